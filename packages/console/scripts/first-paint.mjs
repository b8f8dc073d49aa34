// Measures how soon each page of the console shows its data: 5,000 sequences, a day of history, 5,000 terms of leases. Build first.
//
//   node packages/console/scripts/first-paint.mjs [loads]
//
// Each load has a browser context of its own, so nothing is cached. The figures are ms since the navigation began: the first paint of
// content, and the data in place of the lines that stand for it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openStore } from 'idsmith/stores';
import { chromium } from 'playwright-core';

const LOADS = Number(process.argv[2] ?? 5);
const SEQUENCES = 5000;
const WATCHED = 500;
const TERMS = 5000;

const PAGES = [
  ['Overview', 'overview'],
  ['Inspect', 'inspect/10001'],
  ['Mint', 'mint'],
  ['Sequences', 'sequences'],
  ['Sequences, by run-out', 'sequences?sort=runOut'],
  ['A sequence', 'sequences/tenant-0001'],
  ['Leases', 'leases/shop'],
  ['Ring', 'ring'],
  ['Health', 'health'],
  ['Audit', 'audit'],
];

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'idsmith-first-paint-'));
const nameOf = (i) => `tenant-${String(i).padStart(4, '0')}`;

/** A ring of the history that is full up to now, in the form of a history file. */
function fullRing(step, slots) {
  const values = Float32Array.from({ length: slots }, (_, i) => 50 + 30 * Math.sin(i / 20));
  const newest = Math.floor(Date.now() / 1000 / step);
  return { newest, filled: slots, values: Buffer.from(values.buffer).toString('base64') };
}

/** A day of everything that a server remembers. */
function historyOfADay() {
  const now = Date.now();
  const rings = { activeAt: now, hour: fullRing(5, 720), day: fullRing(300, 288) };
  const quantities = ['flake', 'locality', 'uuid7', 'key', 'sequence', 'requests', 'refusals'];
  quantities.push('storeCalls', 'storeErrors', 'storeSeconds', 'loopDelay', 'memory');
  const since = now - 86_400_000;
  const uses = Array.from({ length: WATCHED }, (_, i) => ({
    ...{ name: nameOf(i), since, taken: rings, handedOut: rings, remaining: null, seenAt: now },
  }));
  const terms = Array.from({ length: TERMS }, (_, i) => ({
    ...{ node: i % 512, term: 1 + Math.floor(i / 512), label: `web-${i}/4200` },
    ...{ from: since, isFromExact: true, after: since, to: now, isHeld: false, fence: now },
  }));
  return {
    ...{ kind: 'idsmith history', version: 1 },
    server: { since, rings: Object.fromEntries(quantities.map((name) => [name, rings])) },
    sequences: uses,
    leases: [{ namespace: 'shop', terms, looked: now }],
  };
}

async function measure(browser, url, path) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(`${url}/#/${path}`, { waitUntil: 'commit' });
  const shown = await page.waitForFunction(
    () =>
      document.querySelector('h1') !== null &&
      document.querySelector('.loading') === null &&
      performance.now(),
    undefined,
    { polling: 'raf' },
  );
  const data = await shown.jsonValue();
  const painted = await page.waitForFunction(
    () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
  );
  const paint = await painted.jsonValue();
  await context.close();
  return { paint, data };
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const row = (name, ...cells) =>
  console.log(name.padEnd(24), ...cells.map((cell) => String(cell).padStart(14)));

async function main() {
  const file = join(folder, 'history.json');
  writeFileSync(file, JSON.stringify(historyOfADay()));
  const store = await openStore(`sqlite:${folder}/ids.db`);
  for (let i = 0; i < SEQUENCES; i++)
    await store.defineSequence({ name: nameOf(i), start: 1n, blockSize: 20 });
  await store.close();
  const bin = join(root, 'packages/idsmith/bin/idsmith.js');
  const assets = join(root, 'packages/console/dist');
  const flags = ['--port', '0', '--json', '--log', 'error', '--assets', assets, '--history-file', file];
  const server = spawn(process.execPath, [bin, 'serve', ...flags], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(server.stdout, 'data');
  const { url } = JSON.parse(line);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    await sleep(2000);
    const load = () =>
      loadavg()
        .map((each) => each.toFixed(2))
        .join(' ');
    console.log(`${SEQUENCES} sequences, ${LOADS} loads a page, load of the machine before: ${load()}`);
    row('', 'paint, median', 'worst', 'data, median', 'worst');
    for (const [name, path] of PAGES) {
      const loads = [];
      for (let i = 0; i < LOADS; i++) loads.push(await measure(browser, url, path));
      const figures = (key) => loads.map((each) => Math.round(each[key]));
      const [paint, data] = [figures('paint'), figures('data')];
      row(name, median(paint), Math.max(...paint), median(data), Math.max(...data));
    }
    console.log(`load of the machine after: ${load()}`);
  } finally {
    await browser.close();
    server.kill('SIGTERM');
    await once(server, 'exit');
  }
}

await main().finally(() => rmSync(folder, { recursive: true, force: true }));
