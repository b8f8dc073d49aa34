import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Block } from '../../../src/sequence/port.ts';
import { BlockReader, type Optimizer } from '../../../src/stores/native/optimizer.ts';

/** How a database goes on after ALTER SEQUENCE … INCREMENT BY: from the last value, or from the next one. */
type Counting = 'last + increment' | 'next, counted before';

/** A sequence that ascends or descends, and is altered on the way. */
class Sequence {
  readonly #counting: Counting;
  readonly start: bigint;
  #increment: bigint;
  #last: bigint | undefined;
  #next: bigint;

  constructor(counting: Counting, start: bigint, increment: bigint) {
    this.#counting = counting;
    this.start = start;
    this.#next = start;
    this.#increment = increment;
  }

  draw() {
    const value = this.#next;
    this.#last = value;
    this.#next += this.#increment;
    return { value, increment: this.#increment, min: undefined, max: undefined, start: this.start };
  }

  alter(increment: bigint) {
    if (this.#counting === 'last + increment' && this.#last !== undefined)
      this.#next = this.#last + increment;
    this.#increment = increment;
  }
}

const idsOf = ({ first, step, count }: Block) =>
  Array.from({ length: count }, (_, i) => first + BigInt(i) * BigInt(step));

const size = fc.integer({ min: 1, max: 40 }).map(BigInt);
const world = fc.record({
  start: fc.bigInt({ min: -1000n, max: 1000n }),
  direction: fc.constantFrom(1n, -1n),
  size,
  readers: fc.integer({ min: 1, max: 4 }),
});

describe('blocks of the values of a sequence', () => {
  it.each<Optimizer>(['pooled-lo', 'pooled', 'none'])(
    'have no id in common, with optimizer %s',
    (optimizer) => {
      const draws = fc.array(fc.nat(), { maxLength: 40 });
      fc.assert(
        fc.property(world, draws, ({ start, direction, size, readers }, order) => {
          const sequence = new Sequence('last + increment', start, size * direction);
          const all = Array.from({ length: readers }, () => new BlockReader('x', optimizer));
          const ids = order.flatMap((n) => idsOf(all[n % readers]!.read(sequence.draw())!));
          expect(new Set(ids).size).toBe(ids.length);
          // Nothing before the start, nothing left out.
          const expected = ids.map(
            (_, i) => start + BigInt(i) * direction * (optimizer === 'none' ? size : 1n),
          );
          expect(ids).toEqual(expected);
        }),
      );
    },
  );

  it.each<[Optimizer, Counting]>([
    ['pooled-lo', 'last + increment'],
    ['pooled-lo', 'next, counted before'],
    ['pooled', 'last + increment'],
    ['pooled', 'next, counted before'],
  ])(
    'have no id in common when it is altered once, with optimizer %s, for readers who knew it before (%s)',
    (optimizer, counting) => {
      const draws = fc.array(fc.nat(), { maxLength: 30 });
      fc.assert(
        fc.property(
          world,
          size,
          draws,
          draws,
          ({ start, direction, size, readers }, other, before, after) => {
            const sequence = new Sequence(counting, start, size * direction);
            const all = Array.from({ length: readers }, () => new BlockReader('x', optimizer));
            const everyone = all.map((_, i) => i);
            const blocks = [...everyone, ...before].map((n) => all[n % readers]!.read(sequence.draw()));
            sequence.alter(other * direction);
            blocks.push(...after.map((n) => all[n % readers]!.read(sequence.draw())));
            const ids = blocks.flatMap((block) => (block === undefined ? [] : idsOf(block)));
            expect(new Set(ids).size).toBe(ids.length);
          },
        ),
        { numRuns: 500 },
      );
    },
  );

  it('of a sequence whose start is unknown never reach below the lowest value that was seen', () => {
    const values = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(values, (order) => {
        const reader = new BlockReader('x', 'pooled');
        let lowest: bigint | undefined;
        for (const n of order) {
          const value = 1000n + 50n * BigInt(n);
          const known = { increment: 50n, min: 1n, max: undefined, start: undefined };
          const { first } = reader.read({ value, ...known })!;
          if (lowest === undefined || value < lowest) lowest = value;
          expect(first).toBeGreaterThanOrEqual(lowest);
        }
      }),
    );
  });
});
