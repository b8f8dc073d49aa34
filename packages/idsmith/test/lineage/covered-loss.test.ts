import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { atDepth } from '../../../../test/depth.js';
import { COVERED_LOSS } from '../../src/lineage/ceiling.js';
import { RewindingServer } from './rewinding-store.js';

/** The last time at which a process told that numbers are not covered. The process may have been restarted since. */
let toldAt = 0;
const listen = (message: unknown) => {
  if ((message as { event: string }).event === 'uncovered') toldAt = Date.now();
};

beforeEach(() => {
  subscribe('idsmith:store', listen);
  vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 });
});
afterEach(() => {
  unsubscribe('idsmith:store', listen);
  vi.useRealTimers();
});

/** Lets what runs in the background come to its end. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('take'),
      by: fc.nat(2),
      blocks: fc.integer({ min: 1, max: 400 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.integer({ min: 1, max: 45_000 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose'), ms: fc.integer({ min: 0, max: 60_000 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart'), by: fc.nat(2) }) },
);

describe('a loss of at most a minute', () => {
  it('repeats no number that was not told of as uncovered', async () => {
    let losses = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 60 }),
        fc.constantFrom(1, -3),
        fc.integer({ min: 1, max: 50 }),
        async (steps, direction, blockSize) => {
          toldAt = 0;
          const server = new RewindingServer();
          const processes = [server.connect(), server.connect(), server.connect()];
          await processes[0]?.defineSequence({ name: 'orders', step: direction, blockSize });
          const copies: { at: number; content: ReturnType<RewindingServer['copy']> }[] = [];
          const given = new Set<bigint>();
          for (const each of steps) {
            copies.push({ at: Date.now(), content: server.copy() });
            if (each.kind === 'pass') vi.setSystemTime(Date.now() + each.ms);
            if (each.kind === 'restart') processes[each.by] = server.connect();
            if (each.kind === 'take') {
              const {
                first,
                step: by,
                count,
              } = (await (processes[each.by] as (typeof processes)[0]).allocate('orders', each.blocks)) as {
                first: bigint;
                step: number;
                count: number;
              };
              for (let i = 0; i < count; i += blockSize) {
                const number = first + BigInt(by) * BigInt(i);
                if (given.has(number)) throw new Error(`${number} was given out twice`);
                given.add(number);
              }
              await settled();
            }
            if (each.kind === 'lose') {
              // What is not covered may repeat. It was told.
              const isTold = processes.some((store) =>
                store.warnings?.().some((text) => /ceiling/.test(text)),
              );
              if (isTold || Date.now() - toldAt <= COVERED_LOSS) return;
              const age = Date.now() - each.ms;
              server.promote((copies.find(({ at }) => at >= age) as (typeof copies)[0]).content);
              losses++;
            }
          }
        },
      ),
      { numRuns: atDepth(240) },
    );
    // The test would prove nothing if every world ended before its loss.
    expect(losses).toBeGreaterThan(5);
  });
});
