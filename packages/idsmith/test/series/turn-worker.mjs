// Takes numbers of two series, one in blocks and one in transactions of its own: a few, and when it is told to go on, until it has
// some of the new year of both. Prints them in the order in which it got them. Some transactions are rolled back. Reads the database's clock before and after each number.
import { once } from 'node:events';
import process from 'node:process';
import { connect } from 'idsmith/connect';
import { series } from 'idsmith/sql';

const [url, newYear, turn] = process.argv.slice(2);
const YEARLY = { format: 'INV-{yyyy}-{n:6}', period: 'year', timeZone: 'Europe/Berlin' };
const FIRST = 10;
const MORE = 20;

const ids = await connect(url);
const fast = await ids.series('fast', YEARLY);
const gapless = series('gapless', YEARLY);
const withTransaction = await opener(url);
const given = { fast: [], gapless: [], wrong: [] };

async function takeUntil(isEnough, list, take) {
  for (let after = 0; !isEnough(list, after); ) {
    const before = await ids.store.now();
    const text = await take();
    const isNew = text?.startsWith(`INV-${newYear}`);
    // A number of the new year before it, or of the old year after it.
    if (isNew ? (await ids.store.now()) < Number(turn) : text !== undefined && before >= Number(turn))
      given.wrong.push(`${text} between ${before} and ${await ids.store.now()}`);
    if (text === undefined) continue;
    list.push(text);
    if (isNew) after++;
  }
}

async function told(line) {
  process.stdout.write(`${line}\n`);
  await once(process.stdin, 'data');
}

let count = 0;
const takeBoth = (isEnough) =>
  Promise.all([
    takeUntil(isEnough, given.fast, () => fast.next()),
    takeUntil(isEnough, given.gapless, () =>
      withTransaction(++count % 5 !== 0, (client) => gapless.next({ in: client })),
    ),
  ]);

await told('ready');
await takeBoth((list) => list.length >= FIRST);
// Nothing is under way when the clock is set.
await told('begun');
process.stdin.destroy();
await takeBoth((_list, after) => after >= MORE);
await ids.close();
await withTransaction.end();
process.stdout.write(`${JSON.stringify(given)}\n`);

/** Gives a function that runs work in a transaction, and its result if the transaction was committed. */
async function opener(at) {
  if (at.startsWith('postgres')) {
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: at });
    await client.connect();
    return Object.assign(
      async (keeps, work) => {
        await client.query('BEGIN');
        const result = await work(client);
        await client.query(keeps ? 'COMMIT' : 'ROLLBACK');
        return keeps ? result : undefined;
      },
      { end: () => client.end() },
    );
  }
  if (at.startsWith('mysql')) {
    const { createConnection } = await import('mysql2/promise');
    const connection = await createConnection(at);
    return Object.assign(
      async (keeps, work) => {
        await connection.beginTransaction();
        const result = await work(connection);
        await (keeps ? connection.commit() : connection.rollback());
        return keeps ? result : undefined;
      },
      { end: () => connection.end() },
    );
  }
  const { default: Database } = await import('libsql');
  const db = new Database(at.slice('sqlite:'.length));
  db.exec('PRAGMA busy_timeout = 20000');
  return Object.assign(
    async (keeps, work) => {
      db.exec('BEGIN IMMEDIATE');
      const result = await work(db);
      db.exec(keeps ? 'COMMIT' : 'ROLLBACK');
      // SQLite keeps no line of those who wait.
      await new Promise((resolve) => setTimeout(resolve, 2));
      return keeps ? result : undefined;
    },
    { end: () => db.close() },
  );
}
