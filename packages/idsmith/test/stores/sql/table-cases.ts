import { InvalidOptionError, NoSuchSequenceError, SequenceExhaustedError, StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { partOf } from '../../../src/sequence/block.ts';
import { vectors } from '../../support/vectors.ts';
import {
  expectNoGap,
  idsOf,
  PLAIN_SQL_WAYS,
  repeatedly,
  type SharedDatabase,
  upstreamTable,
} from '../support/shared-database.ts';

interface Vector {
  readonly row: { next_block_start: string; block_size: number; exhausted: number };
  readonly firstIds: string[];
  readonly then?: string;
  readonly rowAfterFirstFetch?: { next_block_start: string; exhausted: number };
}

const { cases } = vectors<{ topcoder: { cases: Vector[] } }>('flakes-and-blocks').topcoder;

/** What other programs have made of the type of the last column. */
const EXHAUSTED = ['INT DEFAULT 0', 'SMALLINT DEFAULT 0 NOT NULL', 'NUMERIC(1) DEFAULT 0', 'DECIMAL(10, 0)'];

/** How a store shares `id_sequences` with programs that know only four of its columns. */
export function tableCases(open: () => Promise<SharedDatabase>, moreTypes: readonly string[] = []): void {
  const withDatabase = (work: (shared: SharedDatabase) => Promise<void>) => async () => {
    const shared = await open();
    await work(shared).finally(() => shared.close());
  };
  const insert = (
    shared: SharedDatabase,
    name: string,
    next: bigint | string,
    size: number,
    exhausted: number | null = 0,
  ) =>
    shared.sql(`INSERT INTO id_sequences (name, next_block_start, block_size, exhausted)
      VALUES ('${name}', ${next}, ${size}, ${exhausted === null ? 'NULL' : exhausted})`);

  describe.each([...EXHAUSTED, ...moreTypes])('with a table of upstream where exhausted is %s', (type) => {
    it('gives the ids that upstream gives, and leaves the rows that upstream leaves', async () => {
      const shared = await open();
      await shared.sql(upstreamTable(type));
      for (const [i, { row }] of cases.entries())
        await insert(shared, `case ${i}`, row.next_block_start, row.block_size, row.exhausted);
      const store = shared.store();
      for (const [i, { row, firstIds, then, rowAfterFirstFetch }] of cases.entries()) {
        const name = `case ${i}`;
        const expected = { ...row, ...rowAfterFirstFetch };
        if (row.block_size === 0) {
          // Upstream's defect: it gives out the same id for ever.
          await expect(store.allocate(name, 1)).rejects.toThrow(InvalidOptionError);
        } else if (firstIds.length > 0) {
          const ids = idsOf(await store.allocate(name, 1));
          expect(ids.slice(0, firstIds.length).map(String)).toEqual(firstIds);
          expect(ids).toHaveLength(row.block_size);
        }
        // Again, when it is known to be at its end.
        for (let times = 0; then && times < 2; times++)
          await expect(store.allocate(name, 1)).rejects.toThrow(SequenceExhaustedError);
        expect(await shared.row(name)).toEqual({
          next_block_start: expected.next_block_start,
          block_size: String(expected.block_size),
          exhausted: String(expected.exhausted),
        });
      }
      await shared.close();
    });
  });

  it(
    'adopts a table of upstream with its rows as they are',
    withDatabase(async (shared) => {
      await shared.sql(upstreamTable());
      await insert(shared, 'orders', 2n ** 53n + 1n, 7);
      await insert(shared, 'without a flag', -5n, 3, null);
      const before = [await shared.row('orders'), await shared.row('without a flag')];
      const store = shared.store();
      const [orders, other] = await store.listSequences();
      expect(orders).toEqual({
        name: 'orders',
        start: undefined,
        next: 2n ** 53n + 1n,
        blockSize: 7,
        step: 1,
        min: -(2n ** 63n),
        max: 2n ** 63n - 1n,
        cycle: false,
        exhausted: false,
      });
      expect(other).toMatchObject({ name: 'without a flag', next: -5n, exhausted: false });
      expect([await shared.row('orders'), await shared.row('without a flag')]).toEqual(before);
      expect(idsOf(await store.allocate('without a flag', 1))).toEqual([-5n, -4n, -3n]);
    }),
  );

  it(
    'gives sequences in a table of upstream everything that its own have',
    withDatabase(async (shared) => {
      await shared.sql(upstreamTable());
      await insert(shared, 'orders', 10n, 2);
      const store = shared.store();
      await store.alterSequence('orders', { step: 3, max: 20, cycle: true, min: 1 });
      const runs = await repeatedly(3, () => store.allocate('orders', 1));
      expect(runs.flatMap(idsOf)).toEqual([10n, 13n, 16n, 19n, 1n, 4n]);
      await store.defineSequence({ name: 'down', step: -2, start: 5, blockSize: 2 });
      expect(idsOf(await store.allocate('down', 1))).toEqual([5n, 3n]);
    }),
  );

  it(
    'works with rows that plain SQL inserts, changes and deletes',
    withDatabase(async (shared) => {
      const store = shared.store();
      await expect(store.allocate('orders', 1)).rejects.toThrow(NoSuchSequenceError);
      await shared.sql(
        `INSERT INTO id_sequences (name, next_block_start, block_size) VALUES ('orders', 100, 10)`,
      );
      expect((await store.allocate('orders', 1)).first).toBe(100n);
      await shared.sql(
        `UPDATE id_sequences SET next_block_start = next_block_start + block_size WHERE name = 'orders'`,
      );
      expect((await store.allocate('orders', 1)).first).toBe(120n);
      await shared.sql(`UPDATE id_sequences SET block_size = 5 WHERE name = 'orders'`);
      expect(await store.allocate('orders', 2)).toMatchObject({ first: 130n, count: 10 });
      await shared.sql(`UPDATE id_sequences SET exhausted = 1 WHERE name = 'orders'`);
      await expect(store.allocate('orders', 1)).rejects.toThrow(SequenceExhaustedError);
      await shared.sql(`DELETE FROM id_sequences WHERE name = 'orders'`);
      await expect(store.allocate('orders', 1)).rejects.toThrow(NoSuchSequenceError);
      await insert(shared, 'orders', 1n, 5);
      // This process has got numbers up to 139. It cannot know whether the row was lost or is another one on purpose.
      await expect(store.allocate('orders', 1)).rejects.toMatchObject({ code: 'STORE_WENT_BACK' });
      // The ceiling of the first use.
      expect((await store.allocate('orders', 1)).first).toBe(10_100n);
    }),
  );

  it(
    'leads a program that adds the block size the right way, up and down',
    withDatabase(async (shared) => {
      const store = shared.store();
      await store.defineSequence({ name: 'down', start: 100, step: -1, blockSize: 10 });
      expect((await store.allocate('down', 1)).first).toBe(100n);
      await shared.sql(
        `UPDATE id_sequences SET next_block_start = next_block_start + block_size WHERE name = 'down'`,
      );
      expect((await store.allocate('down', 1)).first).toBe(80n);
      expect(await store.describeSequence('down')).toMatchObject({ blockSize: 10, step: -1 });
    }),
  );

  it(
    'refuses rows that would give the same ids for ever',
    withDatabase(async (shared) => {
      const store = shared.store();
      for (const [name, column] of Object.entries({ a: 'block_size', b: 'step' })) {
        await store.defineSequence({ name });
        await store.allocate(name, 1);
        await shared.sql(`UPDATE id_sequences SET ${column} = 0 WHERE name = '${name}'`);
        const refusal = await store.allocate(name, 1).catch((error) => error);
        expect(refusal).toBeInstanceOf(column === 'step' ? StoreError : InvalidOptionError);
        expect(refusal.message).toMatch(new RegExp(`${column} of sequence "${name}" .*0`));
        expect((await shared.row(name))?.next_block_start).toBe('21');
      }
    }),
  );

  it.each(PLAIN_SQL_WAYS)('never shares an id with a program that %s, under load', async (way) => {
    const shared = await open();
    await shared.sql(upstreamTable());
    await insert(shared, 'orders', 1n, 5);
    const ours = [shared.store(4), shared.store(4)];
    const work = [
      ...ours.flatMap((store) => [1, 2, 3].map((n) => repeatedly(20, () => store.allocate('orders', n)))),
      ...[1, 2, 3].map(() => repeatedly(15, () => shared.takeBlockBySql('orders', way))),
    ];
    const blocks = (await Promise.all(work)).flat();
    expectNoGap(blocks);
    expect(await shared.row('orders')).toMatchObject({ next_block_start: String(5 * (240 + 45) + 1) });
    await shared.close();
  });

  it(
    'does not take the end of a block back into a row that was deleted and inserted again',
    withDatabase(async (shared) => {
      await shared.sql(upstreamTable());
      await insert(shared, 'reborn', '1', 20);
      const [one, two] = [shared.store(), shared.store()];
      const block = await one.allocate('reborn', 1);
      expect(await one.giveBack!('reborn', partOf(block, 15, 5))).toBe(true);
      await shared.sql(`DELETE FROM id_sequences WHERE name = 'reborn'`);
      await insert(shared, 'reborn', '1', 15);
      expect((await two.allocate('reborn', 1)).first).toBe(1n);
      expect(await one.giveBack!('reborn', partOf(block, 5, 10))).toBe(false);
      expect((await two.allocate('reborn', 1)).first).toBe(16n);
    }),
  );
}
