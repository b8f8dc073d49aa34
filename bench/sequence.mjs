// npm run bench -- sequence

import { memoryStore, postgresSequence, Sequences } from 'idsmith';
import pg from 'pg';
import { consumed, printTable, printTargets, save } from './harness.mjs';
import { measureAwaits, measureCalls } from './sequence/calls.mjs';
import { measureDemand } from './sequence/demand.mjs';
import { blocksPerSecond, drawSteadily, timeCalls } from './sequence/draw.mjs';
import { startStores } from './sequence/stores.mjs';

const CLIENTS = [1, 2, 8, 32];

const calls = await measureCalls();
const machine = printTable('Drawing from a sequence with ids at hand', calls, 'takeNumber()');
const awaited = await measureAwaits();
console.log();
printTable('Awaiting', awaited, 'await next()');
const of = (name) => [...calls, ...awaited].find((result) => result.name === name).nanoseconds;

const stores = await startStores();
const pool = new pg.Pool({ connectionString: stores.urlOf('postgres') });
pool.on('error', () => {});

console.log(
  '\nOne client on PostgreSQL, a block of 1000, bursts of 10,000 ids between turns of the event loop\n',
);
const store = await stores.open('postgres');
const sequences = new Sequences(store);
await sequences.define('steady', { blockSize: 1000 });
const adaptive = await sequences.get('steady');
const steady = await drawSteadily(adaptive, 5);
console.log(
  `${(steady.perSecond / 1e6).toFixed(1)} million ids a second; ${steady.waits} calls of ${steady.ids} waited`,
);

console.log('\nEvery call timed, µs\n');
await sequences.define('plain', { blockSize: 1000 });
await pool.query('CREATE SEQUENCE one_seq');
const plain = await sequences.get('plain', { prefetch: 0 });
const native = await new Sequences(memoryStore()).get('one', {
  source: postgresSequence(pool, 'one'),
  prefetch: 0,
});
const timings = {
  "take() ?? next(), 'adaptive'": await timeCalls(() => adaptive.take() ?? adaptive.next(), 5),
  'take() ?? next(), prefetch 0': await timeCalls(() => plain.take() ?? plain.next(), 5),
  'nextval, one id at a time': await timeCalls(() => native.take() ?? native.next(), 3),
};
const columns = ['calls', 'waits', 'p50', 'p99', 'p9999', 'longest'];
console.log(`${''.padEnd(32)}${columns.map((column) => column.padStart(12)).join('')}`);
for (const [name, timing] of Object.entries(timings)) {
  const cells = columns.map((column) => timing[column].toLocaleString('en', { maximumFractionDigits: 2 }));
  console.log(`${name.padEnd(32)}${cells.map((cell) => cell.padStart(12)).join('')}`);
}

console.log('\nBlocks a second of one hot sequence, by clients with connections of their own\n');
console.log(`${''.padEnd(12)}${CLIENTS.map((clients) => String(clients).padStart(10)).join('')}`);
const scaling = {};
for (const name of stores.names) {
  scaling[name] = [];
  for (const clients of CLIENTS)
    scaling[name].push(await blocksPerSecond(() => stores.open(name), clients, 2, `hot ${clients}`));
  const cells = scaling[name].map((rate) => Math.round(rate).toLocaleString('en').padStart(10));
  console.log(`${name.padEnd(12)}${cells.join('')}`);
}

console.log('\nStatements, and ids at hand\n');
const demand = await measureDemand();
for (const { what, figure, most } of demand)
  console.log(
    `${figure <= most ? 'reached ' : 'MISSED  '} ${what}: ${Number(figure.toFixed(4))} (at most ${most})`,
  );

const targets = [
  { what: 'takeNumber() against () => n++', ratio: of('bare () => n++') / of('takeNumber()'), target: 0.8 },
  { what: 'take() against () => n += 1n', ratio: of('bare () => n += 1n') / of('take()'), target: 0.8 },
  {
    what: 'await next() against await of a resolved value',
    ratio: of('await of a resolved value') / of('await next()'),
    target: 0.8,
  },
  { what: 'one client on PostgreSQL against 20 million a second', ratio: steady.perSecond / 20e6, target: 1 },
];
printTargets(targets);
if (steady.waits > 0) console.log(`MISSED   ${steady.waits} calls waited for the database once warm`);
save('sequence', {
  machine,
  targets,
  calls,
  awaited,
  steady,
  timings,
  scaling,
  demand,
  consumed: consumed(),
});
await sequences.close();
await Promise.all([store.close(), pool.end()]);
await stores.stop();
