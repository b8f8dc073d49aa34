import { acquireLease } from 'idsmith';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RewindingServer } from '../lineage/rewinding-store.ts';

// Only the timers of the machine let others found, so time itself is not real here.
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A server that answers one question a millisecond, with the answers that it gave. */
function queueing(): { connect(): ReturnType<RewindingServer['connect']>; answers: [string, unknown][] } {
  const server = new RewindingServer();
  const answers: [string, unknown][] = [];
  let turn = Promise.resolve();
  const inTurn = async (call: () => Promise<unknown>, name: string) => {
    turn = turn.then(() => new Promise((resolve) => setTimeout(resolve, 1)));
    await turn;
    const answer = await call();
    answers.push([name, answer]);
    return answer;
  };
  const connect = () =>
    new Proxy(server.connect(), {
      get(target, name) {
        // The usual ttl.
        if (name === 'maxTtl') return undefined;
        const member = target[name as keyof typeof target];
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          const record = args[2] as { id: number } | undefined;
          const what = name === 'swapLease' && record?.id === -1 ? `found ${args[0]}` : String(name);
          return inTurn(() => (member as (...args: unknown[]) => Promise<unknown>).apply(target, args), what);
        };
      },
    });
  return { connect, answers };
}

it.each([
  ['a new store', false],
  ['a store with other namespaces', true],
])('of 100 who start at once in a new namespace of %s, a few try to found it', async (_, isKnown) => {
  const { connect, answers } = queueing();
  const options = { size: 128 };
  const meanwhile = async <T>(work: Promise<T>) => {
    // Long enough for all of them, and shorter than it takes until the first renewal.
    await vi.advanceTimersByTimeAsync(6000);
    return work;
  };
  if (isKnown) await meanwhile(acquireLease(connect(), { ...options, namespace: 'other' }));
  answers.length = 0;
  const leases = await meanwhile(
    Promise.all(Array.from({ length: 100 }, () => acquireLease(connect(), { ...options, namespace: 'new' }))),
  );
  expect(new Set(leases.map(({ id }) => id)).size).toBe(100);
  const foundings = answers.filter(([name]) => name.startsWith('found '));
  // One of them founds it, and the store. 1 to 17 of 100 try, and all of them would if nobody waited.
  expect(foundings.filter(([, isDone]) => isDone)).toHaveLength(isKnown ? 1 : 2);
  expect(foundings.length).toBeLessThan(50);
  expect(answers.length / 100).toBeLessThan(6);
  await meanwhile(Promise.all(leases.map((lease) => lease.release())));
});
