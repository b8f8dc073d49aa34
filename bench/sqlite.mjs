// npm run bench -- sqlite: two hundred processes on one SQLite file. Counts what they were refused, which must be nothing.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { save } from './harness.mjs';

const PROCESSES = Number(process.env.PROCESSES ?? 200);
const BLOCKS = 20;
/** The taker defines a sequence of blocks of this size. */
const BLOCK_SIZE = 10;
const TAKER = fileURLToPath(
  new URL('../packages/idsmith/test/stores/sqlite/scripts/sequence-taker.mjs', import.meta.url),
);

const folder = mkdtempSync(join(tmpdir(), 'idsmith-sqlite-'));
const file = join(folder, 'shared.db');

/** One process, which takes blocks after it has read a line. Resolves when it is there. */
async function start() {
  const taker = spawn(process.execPath, [TAKER, file, String(BLOCKS), 'wait']);
  const texts = { stdout: '', stderr: '' };
  const isThere = new Promise((resolve) => taker.stdout.once('data', resolve));
  for (const name of ['stdout', 'stderr'])
    taker[name].on('data', (chunk) => {
      texts[name] += chunk;
    });
  const ended = new Promise((resolve) => taker.on('close', (code) => resolve({ code, ...texts })));
  await Promise.race([isThere, ended]);
  return { ended, go: () => taker.stdin.end('go\n') };
}

const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}`;
const takers = [];
// A few at a time: to start is work for a processor.
while (takers.length < PROCESSES)
  takers.push(...(await Promise.all(Array.from({ length: Math.min(10, PROCESSES - takers.length) }, start))));
const begin = performance.now();
for (const { go } of takers) go();
const runs = await Promise.all(takers.map(({ ended }) => ended));
const seconds = (performance.now() - begin) / 1000;
const failed = runs.filter(({ code }) => code !== 0);
const locked = runs.filter(({ stderr }) => /locked|busy/i.test(stderr));
const firsts = runs.flatMap(({ stdout }) =>
  stdout
    .trim()
    .split('\n')
    .filter((line) => line !== 'ready')
    .map(Number),
);
const missing = PROCESSES * BLOCKS - new Set(firsts).size;
const isWhole = missing === 0 && Math.max(...firsts) === 1 + BLOCK_SIZE * (PROCESSES * BLOCKS - 1);
console.log(
  `${PROCESSES} processes that take ${BLOCKS} blocks each from one SQLite file\n${machine}\n\n` +
    `${isWhole && failed.length === 0 ? 'reached' : 'MISSED '}  ${locked.length} told that the file is locked, ${failed.length} failed, ` +
    `${firsts.length} blocks, ${missing} of them missing or given twice, ${seconds.toFixed(1)} s`,
);
for (const { stderr } of failed.slice(0, 3)) console.log(stderr);
save('sqlite', {
  machine,
  processes: PROCESSES,
  locked: locked.length,
  failed: failed.length,
  missing,
  seconds,
});
rmSync(folder, { recursive: true });
