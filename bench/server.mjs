// npm run bench -- server

import { cpus } from 'node:os';
import autocannon from 'autocannon';
import { Sequences } from 'idsmith';
import { openStore } from 'idsmith/stores';
import { printTargets, save } from './harness.mjs';
import { drawSteadily } from './sequence/draw.mjs';
import { startBare, startIdsmith } from './server/start.mjs';
import { timeRequests } from './server/steady.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const SECONDS = 2;
const CONNECTIONS = 50;

const [ours, bare] = await Promise.all([startIdsmith(), startBare()]);
const headers = { 'content-type': 'application/json' };
const body = JSON.stringify({ name: 'bench', blockSize: 1000 });
await fetch(`${ours.url}/v1/sequences`, { method: 'POST', headers, body });

const PATHS = ['flakes', 'locality', 'sequences/bench/next'];
const lanes = [
  { name: 'bare Fastify route, a constant', url: `${bare.url}/bare`, ids: 1 },
  ...PATHS.map((path) => ({ name: `POST /v1/${path}`, url: `${ours.url}/v1/${path}`, ids: 1 })),
];
for (const path of PATHS) {
  const url = `${ours.url}/v1/${path}?count=1000`;
  const { length } = await (await fetch(url, { method: 'POST' })).text();
  const size = `a constant of ${length.toLocaleString('en')} bytes`;
  lanes.push({ name: `POST /v1/${path}?count=1000`, url, ids: 1000 });
  lanes.push({ name: `${size}, as of ${path}`, url: `${bare.url}/bare/${length}`, ids: 1 });
}
for (const lane of lanes) lane.rounds = [];

for (const { url, ids } of lanes) await checkAnswers(url, ids);

/** One round of load; whatever is not a success disqualifies. */
async function load(url, duration) {
  const server = url.startsWith(ours.url) ? ours : bare;
  const before = server.cpuSeconds();
  const result = await autocannon({ url, method: 'POST', connections: CONNECTIONS, duration });
  const failed = result.errors + result.timeouts + result.non2xx;
  if (failed > 0) throw new Error(`${url}: ${failed} requests failed`);
  return { ...result, cpu: ((server.cpuSeconds() - before) / result.requests.total) * 1e6 };
}

/** An answer that is not one, or an id that comes twice, disqualifies before anything is timed. */
async function checkAnswers(url, count) {
  const seen = new Set();
  for (let i = 0; i < 20; i++) {
    const { ids } = await (await fetch(url, { method: 'POST' })).json();
    if (ids.length !== count) throw new Error(`${url} gave ${ids.length} ids, not ${count}`);
    for (const id of ids) seen.add(id);
  }
  if (!url.startsWith(bare.url) && seen.size !== 20 * count) throw new Error(`${url} gave an id twice`);
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

for (const { url } of lanes) await load(url, 1);
for (let round = 0; round < ROUNDS; round++)
  for (const lane of lanes) lane.rounds.push(await load(lane.url, SECONDS));

const results = lanes.map(({ name, ids, rounds }) => {
  const rate = median(rounds.map(({ requests }) => requests.average));
  const at = (share) => median(rounds.map(({ latency }) => latency[share]));
  const cpu = median(rounds.map((round) => round.cpu));
  return { name, rate, ids: rate * ids, cpu, p50: at('p50'), p99: at('p99'), p999: at('p99_9') };
});

const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}, V8 ${process.versions.v8}`;
console.log(`The server on loopback, its load generator on the same machine\n${machine}`);
console.log(
  `median of ${ROUNDS} interleaved rounds of ${SECONDS} s, ${CONNECTIONS} connections, one request at a time on each\n`,
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

/** Against a bare route in the same round, a few seconds before: what else the machine did then was the same for both. */
function against(base, name) {
  const [baseLane, lane] = [base, name].map((each) =>
    lanes.find((candidate) => candidate.name.endsWith(each)),
  );
  const cpu =
    median(baseLane.rounds.map((round) => round.cpu)) / median(lane.rounds.map((round) => round.cpu));
  console.log(`${cpu.toFixed(2)} × by processor time: ${name} against ${base}`);
  return median(lane.rounds.map(({ requests }, i) => requests.average / baseLane.rounds[i].requests.average));
}

// On a machine that has other work to do, the processor time of the server tells more than the rate.
console.log('');

const targets = [
  ...PATHS.map((path) => ({
    what: `one id a request of ${path} against the bare route`,
    ratio: against('bare Fastify route, a constant', `POST /v1/${path}`),
    target: path.startsWith('sequences') ? 0.75 : 0.85,
  })),
  ...PATHS.map((path) => ({
    what: `${path}?count=1000 against a constant body of the same size`,
    ratio: against(`as of ${path}`, `POST /v1/${path}?count=1000`),
    target: 0.5,
  })),
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
