import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { InvalidOptionError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { on, range, settled, TestSource } from './support/sources.ts';

/** A promise that opens by hand. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('a signal', () => {
  it('that is aborted already takes no id, also when ids are at hand', async () => {
    const source = new TestSource();
    const sequence = await on(source);
    await sequence.next();
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(sequence.next({ signal })).rejects.toThrow('too late');
    await expect(sequence.nextNumber({ signal })).rejects.toThrow('too late');
    await expect(sequence.batch(3, { signal })).rejects.toThrow('too late');
    expect(await sequence.batch(9)).toEqual(range(2, 10));
    expect(source.asked).toEqual([1]);
  });

  it('ends the wait at once, and the id goes to the next in line', async () => {
    const source = new TestSource();
    const { opened, open } = gate();
    source.gate = opened;
    const sequence = await on(source);
    const controller = new AbortController();
    const aborted = sequence.next({ signal: controller.signal });
    const later = [sequence.next(), sequence.nextNumber()];
    await undefined;
    controller.abort(new Error('gone'));
    await expect(aborted).rejects.toThrow('gone');
    open();
    expect(await Promise.all(later)).toEqual([1n, 2]);
    expect(source.asked).toEqual([1]);
  });

  it('of the last who waits leaves what was fetched at hand', async () => {
    const source = new TestSource();
    const { opened, open } = gate();
    source.gate = opened;
    const sequence = await on(source);
    const controller = new AbortController();
    const aborted = sequence.batch(3, { signal: controller.signal });
    await undefined;
    controller.abort();
    await expect(aborted).rejects.toThrow(controller.signal.reason);
    open();
    await settled();
    expect(sequence.take()).toBe(1n);
    expect(source.asked).toEqual([1]);
  });

  it('that removes a large batch lets those behind it have the ids at hand', async () => {
    const source = new TestSource();
    const sequence = await on(source);
    await sequence.next();
    source.gate = new Promise(() => {});
    const controller = new AbortController();
    const batch = sequence.batch(1000, { signal: controller.signal });
    const behind = [sequence.next(), sequence.batch(3)];
    await settled();
    expect(sequence.take()).toBeUndefined();
    controller.abort();
    await expect(batch).rejects.toThrow(controller.signal.reason);
    expect(await Promise.all(behind)).toEqual([2n, [3n, 4n, 5n]]);
    expect(sequence.take()).toBe(6n);
  });

  it('that is aborted after the id has come changes nothing, and leaves no listener', async () => {
    const sequence = await on(new TestSource());
    const controller = new AbortController();
    const { signal } = controller;
    for (let i = 1; i <= 100; i++) expect(await sequence.next({ signal })).toBe(BigInt(i));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    controller.abort();
    expect(await sequence.next()).toBe(101n);
  });

  it.each([[{ signal: 5 }], [{ sinal: undefined }], [null], [7]])('%o is refused', async (options) => {
    const sequence = await on(new TestSource());
    for (const call of [
      sequence.next(options as never),
      sequence.nextNumber(options as never),
      sequence.batch(2, options as never),
    ])
      await expect(call).rejects.toThrow(InvalidOptionError);
  });

  it('never loses an id and never repeats one, in any order of calls, aborts and answers', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('next' as const) }),
      fc.record({ kind: fc.constant('take' as const) }),
      fc.record({ kind: fc.constant('batch' as const), count: fc.integer({ min: 0, max: 35 }) }),
      fc.record({ kind: fc.constant('abort' as const), which: fc.nat(20) }),
      fc.record({ kind: fc.constant('fail' as const) }),
      fc.record({ kind: fc.constant('turn' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60 }),
        fc.constantFrom(0, 2, 'adaptive' as const),
        async (steps, prefetch) => {
          const source = new TestSource();
          const sequence = await on(source, prefetch);
          const calls: { controller: AbortController; outcome: Promise<bigint[]> }[] = [];
          const call = (made: (signal: AbortSignal) => Promise<bigint | bigint[]>) => {
            const controller = new AbortController();
            const outcome = made(controller.signal).then(
              (ids) => [ids].flat(),
              () => [],
            );
            calls.push({ controller, outcome });
          };
          const taken: bigint[] = [];
          for (const each of steps) {
            source.failure = undefined;
            if (each.kind === 'next') call((signal) => sequence.next({ signal }));
            if (each.kind === 'batch') call((signal) => sequence.batch(each.count, { signal }));
            if (each.kind === 'abort') calls[each.which]?.controller.abort();
            if (each.kind === 'take') {
              const id = sequence.take();
              if (id !== undefined) taken.push(id);
            }
            if (each.kind === 'fail') source.failure = new Error('away');
            if (each.kind === 'turn' || each.kind === 'fail') await new Promise((r) => setImmediate(r));
          }
          source.failure = undefined;
          const ids = [...(await Promise.all(calls.map(({ outcome }) => outcome))).flat(), ...taken];
          await sequence.close();
          // The ids that were handed out and those that came back are all that was fetched.
          const back = source.returned.flatMap(({ first, count }) =>
            Array.from({ length: count }, (_, i) => first + BigInt(i)),
          );
          const all = [...ids, ...back].sort((a, b) => Number(a - b));
          expect(all).toEqual(range(1, source.given));
        },
      ),
      { numRuns: 500 },
    );
  });
});
