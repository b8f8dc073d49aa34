import { connect } from 'idsmith/connect';
import { expect, it } from 'vitest';
import { describeWith } from '#services';
import { sqlExecutor } from '../../src/drivers/recognise.ts';
import { counterName } from '../../src/series/counters.ts';
import { DATABASES } from './databases.ts';

/** The numbers of one page. */
const PAGE = 5000;

for (const [title, needs, start] of DATABASES)
  await describeWith(needs, `A log of several pages in ${title}`, () => {
    it('is listed completely, each number once and in order', async () => {
      const db = await start();
      const ids = await connect(db.store);
      const invoices = await ids.series('invoices', { format: '{n}', audit: true });
      const others = await ids.series('others', { format: '{n}', audit: true });
      expect([await invoices.next(), await others.next()]).toEqual(['1', '1']);
      const { client, commit } = await db.begin();
      const sql = sqlExecutor(client);
      const ours = `counter = '${await counterName('invoices', undefined, '')}'`;
      // Twice as many each time: a log of 16,384 numbers.
      for (let count = 1; count <= 2 * PAGE; count *= 2)
        await sql.query(`INSERT INTO id_series_log (counter, number, printed, given_at)
          SELECT counter, number + ${count}, printed, given_at FROM id_series_log WHERE ${ours}`);
      // The last page is full, once the rest is gone.
      for (const count of [16_384, 2 * PAGE, PAGE + 1, PAGE]) {
        await sql.query(`DELETE FROM id_series_log WHERE ${ours} AND number > ${count}`);
        const list = await invoices.list({ in: client });
        expect(list.map(({ number }) => Number(number))).toEqual(
          Array.from({ length: count }, (_, i) => i + 1),
        );
      }
      await commit();
      expect(await invoices.list()).toHaveLength(PAGE);
      expect(await others.list()).toHaveLength(1);
      await ids.close();
      await db.end();
    });
  });
