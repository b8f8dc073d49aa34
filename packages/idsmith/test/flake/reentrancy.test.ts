import fc from 'fast-check';
import { FlakeGenerator, type Layout } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { handLease } from '../support/hand-lease.ts';
import { everyLayout, increasing, NOW, tiny } from './set-up.ts';

const NODE = 3;
const YEAR = 365 * 86_400_000;
const ways = ['next', 'nextString', 'batch', 'fill'] as const;
type Way = (typeof ways)[number];

function mint(generator: FlakeGenerator, way: Way, count: number): bigint[] {
  if (way === 'next') return Array.from({ length: count }, () => generator.next());
  if (way === 'nextString') return Array.from({ length: count }, () => BigInt(generator.nextString()));
  if (way === 'batch') return generator.batch(count);
  const target = new BigUint64Array(count);
  generator.fill(target);
  return [...target];
}

/** The clock's answers in turn: how far it moves, and what it mints before it says so. */
const script = fc.array(
  fc.record({
    step: fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 12, -1),
    mints: fc.option(fc.tuple(fc.constantFrom(...ways), fc.integer({ min: 1, max: 4 })), { freq: 2 }),
    shares: fc.constantFrom(false, false, false, false, true),
  }),
  { maxLength: 60 },
);
const call = fc.tuple(fc.constantFrom(...ways), fc.integer({ min: 1, max: 9 }));

/** Ids of a generator whose clock mints with it, in the order in which they were returned. */
function mintAll(
  options: { layout: Layout; onFull: 'wait' | 'borrow'; isShared: boolean },
  answers: { step: number; mints: [Way, number] | null; shares: boolean }[],
  calls: [Way, number][],
): bigint[] {
  const { layout, onFull, isShared } = options;
  const ids: bigint[] = [];
  let generator: FlakeGenerator | undefined;
  let [time, depth] = [NOW, 0];
  const enter = (way: Way, count: number) => {
    const made = mint(generator as FlakeGenerator, way, count);
    if (!increasing(made)) expect.fail(`not increasing: ${made.join(' ')}`);
    ids.push(...made);
  };
  const left = [...answers];
  const now = () => {
    if (generator === undefined) return time;
    const answer = left.shift();
    // Once the script has ended the clock moves with each reading, so that nobody waits for it.
    time += answer?.step ?? layout.tick;
    const told = time;
    if (answer?.shares) generator.share();
    if (answer?.mints && depth < 3) {
      depth++;
      enter(...answer.mints);
      depth--;
    }
    return told;
  };
  const lease = handLease(NODE);
  generator = new FlakeGenerator({ layout, node: lease, clock: { now }, onFull, maxBackward: YEAR });
  if (isShared) generator.share();
  for (const each of calls) enter(...each);
  return ids;
}

describe('a clock that mints with the generator that reads it', () => {
  it.each(everyLayout.map((layout) => [layout.fingerprint, layout] as [string, Layout]))(
    'makes no id twice or wrong: %s',
    (_name, layout) => {
      const options = fc.record({
        layout: fc.constant(layout),
        onFull: fc.constantFrom('wait' as const, 'borrow' as const),
        isShared: fc.boolean(),
      });
      const calls = fc.array(call, { minLength: 1, maxLength: 12 });
      fc.assert(
        fc.property(options, script, calls, (how, answers, asked) => {
          const ids = mintAll(how, answers, asked);
          expect(new Set(ids).size).toBe(ids.length);
          const wrong = ids.filter((id) => {
            const { node, timestamp } = layout.decode(id);
            return node !== NODE || Math.abs(timestamp - NOW) >= 2000 * layout.tick;
          });
          expect(wrong).toEqual([]);
        }),
        { numRuns: 300 },
      );
    },
  );

  it('takes the last number of the tick before the call that read it does', () => {
    const answers = [
      { step: 0, mints: null, shares: false },
      { step: 0, mints: ['next', 3] as [Way, number], shares: false },
      ...Array.from({ length: 3 }, () => ({ step: 0, mints: null, shares: false })),
    ];
    const ids = mintAll({ layout: tiny, onFull: 'wait', isShared: false }, answers, [['next', 2]]);
    expect(ids.map((id) => tiny.decode(id))).toMatchObject([
      ...[1, 2, 3].map((sequence) => ({ timestamp: NOW, node: NODE, sequence })),
      { timestamp: NOW, node: NODE, sequence: 0 },
      { timestamp: NOW + 1, node: NODE, sequence: 0 },
    ]);
  });
});
