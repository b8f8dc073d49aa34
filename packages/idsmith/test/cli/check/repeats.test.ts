import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { inspect } from 'idsmith/inspect';
import { afterAll, describe, expect, it } from 'vitest';
import { HashSet, hashOf } from '../../../src/cli/check/hash-set.ts';
import { IdFile } from '../../../src/cli/check/id-file.ts';
import { isBefore, originOf } from '../../../src/cli/check/origin.ts';
import { findRepeats } from '../../../src/cli/check/repeats.ts';
import { TimeGaps } from '../../../src/cli/check/time-gaps.ts';

const folder = mkdtempSync(join(tmpdir(), 'idsmith-cli-repeats-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const never = new AbortController().signal;

describe('The repeats of a file', () => {
  it.each([
    ['with its hash', hashOf],
    ['with a hash that many ids share', (text: string) => text.length],
  ])('are those that a map finds, in any number of passes, %s', async (_, hash) => {
    const path = join(folder, 'ids.txt');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.stringMatching(/^([1-9][0-9]{0,2}|[A-Za-z]{1,2})$/), { minLength: 1, maxLength: 200 }),
        fc.integer({ min: 1, max: 300 }),
        async (ids, idsPerPass) => {
          writeFileSync(path, ids.join('\n'));
          const places = new Map<string, number[]>();
          for (const [i, id] of ids.entries()) places.set(id, [...(places.get(id) ?? []), i + 1]);
          const expected = [...places]
            .filter(([, lines]) => lines.length > 1)
            .map(([id, lines]) => ({ id, count: lines.length, lines: lines.slice(0, 20) }));
          const file = await IdFile.open(path, { signal: never, io: process });
          const { list, isComplete } = await findRepeats(file, ids.length, { idsPerPass, hash });
          expect(isComplete).toBe(true);
          expect(list).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('are told as incomplete when there are too many to tell apart', async () => {
    const path = join(folder, 'many.txt');
    const ids = Array.from({ length: 100_500 }, (_, i) => `${i}`);
    writeFileSync(path, [...ids, ...ids].join('\n'));
    const { list, isComplete } = await findRepeats(
      await IdFile.open(path, { signal: never, io: process }),
      ids.length * 2,
    );
    expect({ isComplete, count: list.length }).toEqual({ isComplete: false, count: 100_001 });
  });
});

describe('A set of hashes', () => {
  it('has each member once, from far too small a start', () => {
    const set = new HashSet(1);
    const members = Array.from({ length: 50_000 }, (_, i) => hashOf(`id-${i}`));
    const distinct = new Set(members);
    expect(distinct.size).toBe(members.length);
    expect(members.every((member) => set.add(member))).toBe(true);
    expect(members.some((member) => set.add(member))).toBe(false);
    expect(members.every((member) => Number.isSafeInteger(member) && member > 0)).toBe(true);
  });

  it('spreads ids that differ in their last digits over all slots', () => {
    const used = new Set(
      Array.from({ length: 65_536 }, (_, i) => hashOf(`17038651944316${10_000 + i}`) % 65_536),
    );
    // Random hashes use 63 % of the slots.
    expect(used.size).toBeGreaterThan(0.6 * 65_536);
  });
});

describe('The gaps in time', () => {
  it('are exact while there are few times, in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 5000 }), { minLength: 1 }), (times) => {
        const gaps = new TimeGaps();
        for (const time of times) gaps.add(time);
        const sorted = times.toSorted((a, b) => a - b);
        const lengths = sorted.slice(1).map((time, i) => time - (sorted[i] as number));
        const expected = lengths.filter((ms) => ms > 1).sort((a, b) => b - a);
        expect(gaps.longest(1000).map(({ ms }) => ms)).toEqual(expected);
        expect(gaps.range).toEqual({ first: sorted[0], last: sorted.at(-1) });
      }),
    );
  });

  it('are exact for long gaps among very many times', () => {
    const gaps = new TimeGaps();
    const start = Date.UTC(2026);
    for (let i = 0; i < 300_000; i++) gaps.add(start + i * 10 + (i >= 150_000 ? 86_400_000 : 0));
    const [longest, next] = gaps.longest(2);
    expect(longest).toEqual({
      from: start + 1_499_990,
      to: start + 1_500_000 + 86_400_000,
      ms: 86_400_010,
    });
    expect(next?.ms).toBe(10);
  });
});

describe('The origin of an id', () => {
  it('of a locality UUID is what inspect tells', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(
          /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[bB][0-9a-fA-F]{3}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/,
        ),
        (id) => {
          const fields = inspect(id)[0]?.fields as Record<string, unknown>;
          expect(originOf(id, undefined)).toEqual({
            family: 'locality',
            timestamp: fields.timestamp,
            node: `${fields.processId} ${fields.macFragment}`,
          });
        },
      ),
    );
  });

  it('of a UUID of version 7 is its time', () => {
    // The example of RFC 9562.
    expect(originOf('017F22E2-79B0-7CC3-98C4-DC0C0C07398F', undefined)).toEqual({
      family: 'uuid',
      timestamp: 1_645_557_742_000,
    });
    // An xid has a process id, but no MAC address.
    expect(originOf('9m4e2mr0ui3e8a215n4g', undefined)).toEqual({
      family: 'xid',
      timestamp: 1_300_816_219_000,
    });
  });

  it('orders numbers by value', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }),
        fc.bigInt({ min: -500n, max: 500n }),
        (a, d) => {
          expect(isBefore(String(a), String(a + d))).toBe(d > 0n);
        },
      ),
    );
  });
});
