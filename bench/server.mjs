// npm run bench -- server

import { cpus } from 'node:os';
import { Sequences } from 'idsmith';
import { openStore } from 'idsmith/stores';
import { printTargets, save } from './harness.mjs';
import { drawSteadily } from './sequence/draw.mjs';
import { CONNECTIONS, loadPairs, ratiosOf, rowsOf } from './server/pairs.mjs';
import { startBare, startIdsmith } from './server/start.mjs';
import { timeRequests } from './server/steady.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 11);

const [ours, bare] = await Promise.all([startIdsmith(), startBare()]);
const headers = { 'content-type': 'application/json' };
const body = JSON.stringify({ name: 'bench', blockSize: 1000 });
await fetch(`${ours.url}/v1/sequences`, { method: 'POST', headers, body });

const FAMILIES = ['flakes', 'locality', 'sequences/bench/next'];
const single = FAMILIES.map((family) => ({
  what: `one id a request of ${family} against the bare route`,
  target: family.startsWith('sequences') ? 0.75 : 0.85,
  base: { name: 'bare Fastify route, a constant', server: bare, path: '/bare', ids: 1 },
  lane: { name: `POST /v1/${family}`, server: ours, path: `/v1/${family}`, ids: 1 },
}));
const many = await Promise.all(FAMILIES.map(thousandOf));
const pairs = [...single, ...many];

async function thousandOf(family) {
  const path = `/v1/${family}?count=1000`;
  const { length } = await (await fetch(ours.url + path, { method: 'POST' })).text();
  const size = `a constant of ${length.toLocaleString('en')} bytes`;
  return {
    what: `${family}?count=1000 against a constant body of the same size`,
    target: 0.5,
    base: { name: `${size}, as of ${family}`, server: bare, path: `/bare/${length}`, ids: 1 },
    lane: { name: `POST ${path}`, server: ours, path, ids: 1000 },
  };
}

for (const { lane, base } of pairs) for (const each of [lane, base]) await checkAnswers(each);

/** An answer that is not one, or an id that comes twice, disqualifies before anything is timed. */
async function checkAnswers({ server, path, ids: count }) {
  const seen = new Set();
  for (let i = 0; i < 20; i++) {
    const { ids } = await (await fetch(server.url + path, { method: 'POST' })).json();
    if (ids.length !== count) throw new Error(`${path} gave ${ids.length} ids, not ${count}`);
    for (const id of ids) seen.add(id);
  }
  if (server === ours && seen.size !== 20 * count) throw new Error(`${path} gave an id twice`);
}

await loadPairs(pairs, ROUNDS);
const results = rowsOf(pairs);

const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}, V8 ${process.versions.v8}`;
console.log(`The server on loopback, its load generator on the same machine\n${machine}`);
console.log(
  `median of ${ROUNDS} rounds of a second, each lane beside its base; ${CONNECTIONS} connections, one request at a time on each\n`,
);
printRows(
  ['', 'requests/s', 'ids/s', 'CPU µs', 'p50 ms', 'p99 ms', 'p99.9 ms'],
  results.map(({ name, rate, ids, cpu, p50, p99, p999 }) => [
    name,
    ...[rate, ids].map((number) => Math.round(number).toLocaleString('en')),
    cpu.toFixed(1),
    ...[p50, p99, p999].map(String),
  ]),
);

console.log('\nOne id at a time, 10,000 requests a second and not as many as can be\n');
await timeRequests(`${ours.url}/v1/flakes`, 10_000, 2);
const steady = await timeRequests(`${ours.url}/v1/flakes`, 10_000, 5);
const ms = ({ p50, p99, p999 }) =>
  `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, p99.9 ${p999.toFixed(2)} ms`;
console.log(`${Math.round(steady.perSecond).toLocaleString('en')} a second; ${ms(steady)}`);

console.log('\nA sequence over httpStore, bursts of 10,000 ids between turns of the event loop\n');
const store = await openStore(ours.url);
const sequences = new Sequences(store);
await sequences.define('remote', { blockSize: 1000 });
const remote = await drawSteadily(await sequences.get('remote'), 5);
console.log(
  `${(remote.perSecond / 1e6).toFixed(1)} million ids a second; ${remote.waits} calls of ${remote.ids} waited`,
);
await sequences.close();

// On a machine that has other work to do, the processor time of the server tells more than the rate.
console.log('');
for (const pair of pairs) console.log(`${ratiosOf(pair).cpu.toFixed(2)} × by processor time: ${pair.what}`);

const targets = [
  ...pairs.map((pair) => ({ what: pair.what, ratio: ratiosOf(pair).rate, target: pair.target })),
  { what: 'a remote sequence against 10 million ids a second', ratio: remote.perSecond / 10e6, target: 1 },
];
printTargets(targets);
save('server', { machine, targets, results, steady, remote });
await Promise.all([ours.stop(), bare.stop()]);

function printRows(header, rows) {
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => row[column].length)));
  for (const row of [header, ...rows])
    console.log(
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '),
    );
}
