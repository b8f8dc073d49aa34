// Takes the two screenshots of the README: starts the server with the built console, and mints ids for a while.
// Usage: node packages/console/scripts/screenshots.mjs [folder], by default docs/images.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openStore } from 'idsmith/stores';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const target = resolve(process.argv[2] ?? join(root, 'docs/images'));
const folder = mkdtempSync(join(tmpdir(), 'idsmith-screenshots-'));

/** The time for which the server mints ids before the screenshot of its charts, ms. */
const WORK = 60_000;

const server = spawn(
  process.execPath,
  [
    ...[join(root, 'packages/idsmith/bin/idsmith.js'), 'serve', '--port', '0', '--json', '--log', 'error'],
    ...['--assets', join(root, 'packages/console/dist')],
  ],
  { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
);
const [line] = await once(server.stdout, 'data');
const { url } = JSON.parse(line);
const store = await openStore(`sqlite:${folder}/ids.db`);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  mkdirSync(target, { recursive: true });
  for (const name of ['orders', 'invoices']) await store.defineSequence({ name });
  const isOver = new AbortController();
  const work = keepBusy(isOver.signal);
  await Promise.all([
    shoot('inspect', 'light', '#/inspect/20be0ffc-314a-bd53-7a50-013a65ca76d2', 560, 2000),
    shoot('health', 'dark', '#/health', 900, WORK),
  ]);
  isOver.abort();
  await work;
} finally {
  await browser.close();
  server.kill('SIGTERM');
  await once(server, 'exit');
  await store.close();
  rmSync(folder, { recursive: true, force: true });
}

async function post(path) {
  await (await fetch(`${url}/v1/${path}`, { method: 'POST' })).text();
}

/** Mints ids at a rate that rises and falls. */
async function keepBusy(signal) {
  while (!signal.aborted) {
    const wave = (period) => 1.2 + Math.sin(Date.now() / period);
    await Promise.all([
      post(`flakes?count=${Math.round(600 * wave(9000))}`),
      post(`locality?count=${Math.round(300 * wave(6000))}`),
      post('sequences/orders/next?count=60'),
      post('sequences/invoices/next?count=3'),
    ]);
    await sleep(200);
  }
}

async function shoot(name, colorScheme, path, height, wait) {
  const page = await browser.newPage({
    colorScheme,
    viewport: { width: 1280, height },
    deviceScaleFactor: 1.5,
  });
  await page.goto(`${url}/${path}`);
  await sleep(wait);
  await page.screenshot({ path: join(target, `console-${name}.png`) });
  console.log(join(target, `console-${name}.png`));
}
