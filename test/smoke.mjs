// What every runtime must manage: Node 20 to 26, Bun and Deno run this file as it is. Plain JavaScript on purpose.

import assert from 'node:assert/strict';
import { Worker } from 'node:worker_threads';
import {
  acquireLease,
  FlakeGenerator,
  IdError,
  LocalityGenerator,
  LocalityUuid,
  layouts,
  memoryStore,
  Uuid7Generator,
} from 'idsmith';
import { publicIds } from 'idsmith/public';
import { gapless } from 'idsmith/sql';
import { sqliteStore } from 'idsmith/stores/sqlite';
import { FakeClock } from 'idsmith/testing';

const node = { processId: 31359, mac: Uint8Array.of(0, 0, 13, 83, 122, 80) };
const run = new LocalityGenerator({
  reversal: 'java',
  node,
  clock: new FakeClock(1367111039966),
  counter: 0x9dec9c8c - 198491317,
});
assert.deepEqual(
  run.batch(3).map((id) => id.slice(0, 8)),
  ['c8c9cef9', '14951cfa', '6f5169fb'],
);

const seeded = new LocalityGenerator({ mode: 'sequential', clock: new FakeClock(1350327498450) });
assert.equal(seeded.next().slice(0, 8), '01b85440');

const generator = new LocalityGenerator();
const ids = [];
for (let i = 0; i < 100_000; i++) ids.push(generator.next());
ids.push(...generator.batch(100_000));
assert.equal(new Set(ids).size, 200_000);

const bytes = new Uint8Array(16 * 100);
assert.equal(generator.fill(bytes), 100);
assert.equal(LocalityUuid.fromBytes(bytes.slice(16, 32)).version, 'b');
assert.equal(new LocalityUuid().processId, generator.node.processId);
if (generator.node.source === 'machine') assert.equal(generator.node.processId, process.pid);
else assert.equal(generator.node.source, 'random');
assert.throws(() => LocalityUuid.parse('no'), IdError);

// Three threads and this one, all in sequential mode and so from the same seed.
const script = new URL('../packages/idsmith/test/locality/scripts/default-worker.mjs', import.meta.url);
const inWorker = () =>
  new Promise((resolve, reject) => {
    const worker = new Worker(script, { workerData: { count: 20_000, sequential: true } });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
const here = new Uint8Array(16 * 20_000);
new LocalityGenerator({ mode: 'sequential' }).fill(here);
const parts = [here, ...(await Promise.all([inWorker(), inWorker(), inWorker()]))];
const seen = new Set();
for (const part of parts) {
  for (let at = 0; at < part.length; at += 16) seen.add(String.fromCharCode(...part.subarray(at, at + 16)));
}
assert.equal(seen.size, 80_000);

// Deno takes its web workers for main threads.
if ('Deno' in globalThis) {
  const url = new URL('web-worker.mjs', import.meta.url);
  const inWebWorker = () =>
    new Promise((resolve) => {
      const worker = new globalThis.Worker(url, { type: 'module' });
      worker.onmessage = ({ data }) => resolve(data);
    });
  const texts = (await Promise.all([inWebWorker(), inWebWorker()])).flat();
  texts.push(...new LocalityGenerator({ mode: 'sequential' }).batch(20_000));
  assert.equal(new Set(texts).size, 60_000);
}

const uuids = new Uuid7Generator();
const sorted = [uuids.next(), ...uuids.batch(10_000), uuids.next()];
assert.deepEqual(sorted, [...new Set(sorted)].sort());
assert.equal(sorted[0].charAt(14), '7');

// Key 1 is the bytes 0 to 31. The texts are those of every other runtime.
const keys = { 1: Uint8Array.from({ length: 32 }, (_, i) => i) };
const orders = publicIds({ prefix: 'ord', keys });
const rows = publicIds({ prefix: 'row', keys, of: 'uuid' });
const short = publicIds({ prefix: 'ord', keys, short: true });
assert.equal(orders.encode(1703865194431643648n), 'ord_09nx8nq730m50012pbwtkcg606n');
assert.equal(short.encode(5n), 'ord_97Vu3Uoqqi5jG');
for (let i = 0n; i < 1000n; i++) assert.equal(orders.decode(orders.encode(i)), i);
for (const id of sorted.slice(0, 1000)) assert.equal(rows.decode(rows.encode(id)), id);
assert.equal(short.decode(short.encode(10001n)), 10001n);

const flakes = new FlakeGenerator({
  node: await acquireLease(memoryStore(), { namespace: 'smoke', size: 4 }),
});
const first = flakes.next();
assert.ok(flakes.batch(10_000).every((id) => id > first));
assert.equal(layouts.jflake.decode(first).node, 0);

// A number inside a transaction of the runtime's own SQLite. Node 20 has none.
const Database =
  'Bun' in globalThis
    ? (await import('bun:sqlite')).Database
    : process.getBuiltinModule?.('node:sqlite')?.DatabaseSync;
if (Database !== undefined) {
  const db = new Database(':memory:');
  await sqliteStore(db).defineSequence({ name: 'invoices' });
  await assert.rejects(gapless('invoices', db), IdError);
  for (const end of ['ROLLBACK', 'COMMIT']) {
    db.exec('BEGIN');
    assert.equal(await gapless('invoices', db), 1n);
    db.exec('SAVEPOINT inner_work');
    assert.equal(await gapless('invoices', db), 2n);
    db.exec('ROLLBACK TO inner_work');
    assert.equal(await gapless('invoices', db), 2n);
    db.exec(end);
  }
  assert.equal((await sqliteStore(db).describeSequence('invoices')).next, 3n);
  db.close();
}

console.log('ok');
process.exit(0);
