import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IdArchive } from '../src/audit/id-archive.ts';
import { FAMILIES, type Family, idText, LAYOUT, TICK } from '../src/families.ts';
import { recordBytes } from '../src/history/history.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
const MINUTE = 60_000;

let folder: string;
let archive: IdArchive;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'idsmith-archive-'));
  archive = new IdArchive(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

const record = (family: Family, source: number, id: bigint) => recordBytes(family, source, [id]);

/** An id of each family that has this time, in a moment of node 7. */
const ID_AT: Record<Exclude<Family, 'sequences'>, (time: number, low: number) => bigint> = {
  flakes: (time, low) => LAYOUT.encode({ timestamp: time, node: 7, sequence: low }),
  locality: (time, low) => (BigInt(low) << 96n) | (7n << 80n) | (0xbn << 76n) | BigInt(time),
  uuid7: (time, low) => (BigInt(time) << 80n) | (7n << 76n) | (BigInt(low) << 16n) | 7n,
  keys: (time, low) => (BigInt(time) << 16n) | BigInt(low),
};
const TIMED = Object.keys(ID_AT) as (keyof typeof ID_AT)[];

describe('The archive of a soak run', () => {
  it.each(FAMILIES)('finds a %s that comes again long after its bucket was checked', async (family) => {
    const idAt = (minute: number, low: number) =>
      family === 'sequences' ? BigInt(minute * 100_000 + low) : ID_AT[family](NOON + minute * MINUTE, low);
    for (let minute = 0; minute < 10; minute++) {
      for (let low = 0; low < 20; low++) archive.add('store', record(family, 1, idAt(minute, low)));
      await archive.check();
    }
    expect(archive.duplicates).toBe(0);
    archive.add('store', record(family, 1, idAt(3, 15)));
    await archive.check();
    expect(archive.duplicates).toBe(1);
    expect(archive.problems).toHaveLength(1);
    expect(archive.problems[0]).toContain(
      `${idText(family, idAt(3, 15))} (${family}) was handed out by process 1`,
    );
    // Checked again, it is still one.
    archive.add('store', record(family, 1, idAt(3, 101)));
    await archive.check();
    expect(archive.duplicates).toBe(1);
  });

  it('finds a repetition within one check', async () => {
    archive.add('store', Buffer.concat([record('sequences', 1, 5n), record('sequences', 2, 5n)]));
    await archive.check();
    expect(archive.duplicates).toBe(1);
  });

  it('keeps stores apart, and families', async () => {
    for (const family of FAMILIES) archive.add('one', record(family, 1, 5n));
    archive.add('two', record('sequences', 1, 5n));
    await archive.check();
    expect(archive.problems).toEqual([]);
  });

  it.each(['flakes', 'locality', 'uuid7'] as const)(
    'finds two processes that used one node id in the same moment for different ids of %s',
    async (family) => {
      const idAt = ID_AT[family];
      archive.add('store', record(family, 1, idAt(NOON, 1)));
      archive.add('store', record(family, 2, idAt(NOON + TICK, 1)));
      await archive.check();
      expect(archive.sharedMoments).toBe(0);
      archive.add('store', record(family, 2, idAt(NOON, 2)));
      await archive.check();
      expect(archive).toMatchObject({ duplicates: 0, sharedMoments: 1 });
      expect(archive.problems[0]).toContain(
        `process 1 and process 2 both minted with node id 7 of ${family} at 2026-01-01T12:00:00.000Z`,
      );
    },
  );

  it('has a file for each minute of each family', async () => {
    for (const family of TIMED)
      for (const minute of [0, 1])
        archive.add('store', record(family, 1, ID_AT[family](NOON + minute * MINUTE, 1)));
    await archive.check();
    expect(readdirSync(folder)).toHaveLength(2 * TIMED.length);
  });
});
