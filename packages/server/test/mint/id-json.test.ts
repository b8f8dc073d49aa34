import fc from 'fast-check';
import { LocalityGenerator } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { flakesJson, numbersJson, uuidsJson } from '../../src/mint/id-json.ts';

const plain = (ids: Iterable<unknown>) => JSON.stringify({ ids: Array.from(ids, String) });

/** A start, and the distances from each number to the next. */
const walk = (start: fc.Arbitrary<bigint>, step: fc.Arbitrary<number>) =>
  fc.tuple(start, fc.array(step, { maxLength: 60 })).map(([first, steps]) => {
    const ids = [first];
    for (const each of steps) ids.push((ids.at(-1) as bigint) + BigInt(each));
    return ids;
  });

const NEAR_STEPS = fc.oneof(
  { weight: 8, arbitrary: fc.constant(1) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 1500 }) },
  fc.integer({ min: 1, max: 2 ** 31 }),
);
const STARTS = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 63n }),
  fc.bigInt({ min: 0n, max: 3000n }),
  fc.integer({ min: 0, max: 18 }).map((power) => 10n ** BigInt(power) - 3n + 2n),
  fc.integer({ min: 8, max: 62 }).map((power) => 2n ** BigInt(power) - 5n),
);

describe('The JSON of many ids is that of JSON.stringify', () => {
  it('for flakes', () => {
    fc.assert(
      fc.property(walk(STARTS, NEAR_STEPS), (ids) => {
        expect(flakesJson(ids.length, (target) => target.set(ids))).toBe(plain(ids));
      }),
      { numRuns: 2000 },
    );
  });

  it('for sequences, which may descend, be negative and take large steps', () => {
    const steps = fc.oneof(
      NEAR_STEPS,
      NEAR_STEPS.map((step) => -step),
      fc.constant(-1),
    );
    const safe = (id: bigint) => id <= 2n ** 53n - 1n && id >= 1n - 2n ** 53n;
    fc.assert(
      fc.property(
        walk(
          fc.oneof(
            STARTS,
            STARTS.map((start) => -start),
          ),
          steps,
        ),
        (all) => {
          const ids = all.filter(safe);
          fc.pre(ids.length > 0);
          expect(numbersJson(Float64Array.from(ids, Number), ids.length)).toBe(plain(ids));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('for a sequence that counts down to below zero, id by id', () => {
    const ids = Array.from({ length: 3000 }, (_, i) => 2100 - i);
    expect(numbersJson(Float64Array.from(ids), ids.length)).toBe(plain(ids));
  });

  it.each([[[5, 5, 5]], [[-7, -7]], [[-1000, -1000, 99, 99, 100, 100]]])(
    'for the numbers %j of a sequence that begins again at once',
    (ids) => {
      expect(numbersJson(Float64Array.from(ids), ids.length)).toBe(plain(ids));
    },
  );

  it('for UUIDs, of one generator and of any bytes', () => {
    const generator = new LocalityGenerator();
    const bytes = new Uint8Array(16 * 10_000);
    generator.fill(bytes);
    const uuids = (all: Uint8Array) =>
      Array.from({ length: all.length / 16 }, (_, i) => {
        const hex = Buffer.from(all.subarray(16 * i, 16 * i + 16)).toString('hex');
        return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
      });
    expect(uuidsJson(10_000, (target) => target.set(bytes))).toBe(plain(uuids(bytes)));
    const any = fc
      .array(fc.uint8Array({ minLength: 16, maxLength: 16 }), { minLength: 1, maxLength: 20 })
      .map((all) => Uint8Array.from(all.flatMap((each) => [...each])));
    fc.assert(
      fc.property(any, (all) => {
        expect(uuidsJson(all.length / 16, (target) => target.set(all))).toBe(plain(uuids(all)));
      }),
    );
  });
});
