// node bench/server/fair.mjs [FOLDER]: what one honest client waits for while others read lists, or ask for as much as they can.
// FOLDER is the root of another build, to compare with.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = resolve(process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url)));
const SEQUENCES = 4000;
const SECONDS = Number(process.env.SECONDS ?? 4);
const folder = mkdtempSync(join(tmpdir(), 'idsmith-fair-'));
const { createToken } = await import(pathToFileURL(join(root, 'packages/server/dist/index.js')).href);
const { openStore } = await import(pathToFileURL(join(root, 'packages/idsmith/dist/stores/index.js')).href);
const tokens = join(folder, 'tokens.json');
const tokenOf = (name, ...scopes) => createToken(tokens, { name, scopes });
const [good, evil, admin] = [
  await tokenOf('good', 'mint'),
  await tokenOf('evil', 'mint'),
  await tokenOf('admin', 'mint', 'admin'),
];
const key = '2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94';
writeFileSync(join(folder, 'public.json'), JSON.stringify({ ord: { keys: { 1: key } } }), { mode: 0o600 });
const store = await openStore(`sqlite:${join(folder, 'ids.db')}`);
for (let i = 0; i < SEQUENCES; i++) await store.defineSequence({ name: `sequence-${i}` });
await store.close();

const flags = ['--port', '0', '--log', 'error', '--tokens', tokens, '--public-ids', 'public.json'];
const bin = join(root, 'packages/idsmith/bin/idsmith.js');
const server = spawn(process.execPath, [bin, 'serve', '--store', 'sqlite:ids.db', ...flags], {
  cwd: folder,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = await once(server.stdout, 'data');
const { hostname, port } = new URL(String(line).trim().split(' ').at(-1));
const agents = { good: new Agent({ keepAlive: true }), evil: new Agent({ keepAlive: true, maxSockets: 50 }) };

/** One request, and its status. */
function ask(agent, token, [method, path, body]) {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  return new Promise((done, failed) => {
    const sent = request({ hostname, port, method, path, agent, headers }, (answer) => {
      answer.resume().on('end', () => done(answer.statusCode));
    });
    sent.on('error', failed).end(body);
  });
}

/** What an honest client gets, one request after another, beside `callers` others who ask for `noise`. */
async function beside(callers, noise) {
  let isOver = false;
  const others = Array.from({ length: callers }, async () => {
    while (!isOver) await ask(agents.evil, evil, noise);
  });
  await new Promise((done) => setTimeout(done, 500));
  const times = [];
  const end = performance.now() + SECONDS * 1000;
  while (performance.now() < end) {
    const begin = performance.now();
    await ask(agents.good, good, ['POST', '/v1/flakes']);
    times.push(performance.now() - begin);
  }
  isOver = true;
  await Promise.all(others);
  times.sort((a, b) => a - b);
  return { rate: times.length / SECONDS, median: times[times.length >> 1], worst: times.at(-1) };
}

const series = JSON.stringify({ format: 'F{n}' });
await ask(agents.good, admin, ['POST', '/v1/series/fair/next', series]);
const CASES = [
  [4, 'GET', '/v1/sequences?limit=1'],
  [4, 'GET', '/v1/series'],
  [4, 'GET', '/metrics'],
  [50, 'POST', '/v1/flakes?count=10000'],
  [50, 'POST', '/v1/flakes?count=10000&public=ord'],
  [50, 'POST', '/v1/series/fair/next?count=10000', series],
];
console.log(
  `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}; ${SEQUENCES} sequences\n`,
);
await beside(0);
const alone = await beside(0);
const show = (name, { rate, median, worst }) =>
  console.log(
    name.padEnd(56),
    (rate / alone.rate).toFixed(3).padStart(6),
    `${median.toFixed(1)} ms`.padStart(11),
    `${worst.toFixed(0)} ms`.padStart(9),
  );
console.log(`${'one honest client of POST /v1/flakes'.padEnd(56)}  share      median     worst`);
show('alone', alone);
for (const [callers, ...noise] of CASES)
  show(`beside ${callers} of ${noise[0]} ${noise[1]}`, await beside(callers, noise));
server.kill('SIGTERM');
await once(server, 'exit');
for (const agent of Object.values(agents)) agent.destroy();
rmSync(folder, { recursive: true, force: true });
