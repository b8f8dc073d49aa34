// npm run bench -- series: a number in the caller's transaction, against the UPDATE that one would write by hand in the same transaction.

import { register } from 'node:module';
import { cpus } from 'node:os';
import { gapless, series } from 'idsmith/sql';
import { openStore } from 'idsmith/stores';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { median, printRows, printTargets, save } from './harness.mjs';

register('../test/typescript.mjs', import.meta.url);
const { startMariadb, startPostgres } = await import('../test/services/index.ts');

const ROUNDS = 41;
const TRANSACTIONS = 40;

/** A connection of each database, and the number that one would take by hand: the UPDATE gives it back in its own answer. */
const DATABASES = [
  {
    name: 'PostgreSQL',
    target: 0.6,
    start: startPostgres,
    async open(url) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const sql = 'UPDATE by_hand SET next = next + 1 WHERE name = $1 RETURNING next - 1 AS number';
      return {
        client,
        run: (text) => client.query(text),
        byHand: async () => (await client.query(sql, ['invoices'])).rows[0].number,
        close: () => client.end(),
      };
    },
  },
  {
    name: 'MariaDB',
    target: 0.5,
    start: startMariadb,
    async open(url) {
      const client = await createConnection(url);
      // MariaDB has no UPDATE … RETURNING. The number comes in the same answer, without a SELECT.
      const sql = 'UPDATE by_hand SET next = LAST_INSERT_ID(next) + 1 WHERE name = ?';
      return {
        client,
        run: (text) => client.query(text),
        byHand: async () => (await client.query(sql, ['invoices']))[0].insertId,
        close: () => client.end(),
      };
    },
  },
];

const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}`;
console.log(
  `Transactions a second of one connection: BEGIN, one number, COMMIT; nothing waits for the disk\n${machine}\nmedian of ${ROUNDS} interleaved rounds\n`,
);
const rows = [['database', 'number', 'a second', '× (by hand = 1)']];
const targets = [];
for (const { name, target, start, open } of DATABASES) {
  const server = await start();
  const store = await openStore(server.url);
  await store.defineSequence({ name: 'numbers' });
  const options = { format: 'INV-{yyyy}-{n:6}', period: 'year' };
  // As a process that finds its series there.
  await series('invoices', { ...options, store, prefetch: 0 }).next();
  const db = await open(server.url);
  await db.run('CREATE TABLE by_hand (name VARCHAR(100) NOT NULL PRIMARY KEY, next BIGINT NOT NULL)');
  await db.run("INSERT INTO by_hand VALUES ('invoices', 1)");
  const invoices = series('invoices', options);
  const contenders = [
    { what: 'by hand', take: db.byHand },
    { what: 'gapless', take: () => gapless('numbers', db.client) },
    { what: 'series.next({ in })', take: () => invoices.next({ in: db.client }) },
  ].map((contender) => ({ ...contender, times: [], seen: new Set() }));
  for (let round = 0; round <= ROUNDS; round++)
    for (const { take, times, seen } of contenders) {
      const begun = performance.now();
      for (let i = 0; i < TRANSACTIONS; i++) {
        await db.run('BEGIN');
        seen.add(String(await take()));
        await db.run('COMMIT');
      }
      // The first round makes everything ready.
      if (round > 0) times.push(performance.now() - begun);
    }
  for (const { what, seen } of contenders)
    if (seen.size !== (ROUNDS + 1) * TRANSACTIONS) throw new Error(`${what} repeats numbers on ${name}`);
  const rateOf = ({ times }) => (TRANSACTIONS * 1000) / median(times);
  for (const contender of contenders) {
    const ratio = rateOf(contender) / rateOf(contenders[0]);
    rows.push([name, contender.what, Math.round(rateOf(contender)).toLocaleString('en'), ratio.toFixed(2)]);
    if (contender !== contenders[0])
      targets.push({ what: `${contender.what} on ${name} against an UPDATE by hand`, ratio, target });
  }
  await db.close();
  await store.close();
  await server.stop();
}
printRows(rows, 2);
printTargets(targets);
save('series', { machine, targets, rows });
