// Takes pictures of the console in Chromium, from a server that runs with sample data. Build first.
//
//   node packages/console/scripts/screenshots.mjs              the pictures of the documentation, in docs/images
//   node packages/console/scripts/screenshots.mjs all FOLDER   every page, wide and narrow, light and dark, empty and full;
//                                                              or the pages whose names follow
//
// The pictures of the documentation look the same each time on one machine: the page has a fixed clock, and what depends on time
// (rates, forecasts, the start of the server) comes from samples.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openStore } from 'idsmith/stores';
import { chromium } from 'playwright-core';
import { FORECASTS, fill, MOMENT, sampleHistory } from './sample-data.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const [mode, given, ...wanted] = process.argv.slice(2);
const target = resolve(given ?? join(root, 'docs/images'));
const folder = mkdtempSync(join(tmpdir(), 'idsmith-screenshots-'));
const UUID = '20be0ffc-314a-bd53-7a50-013a65ca76d2';

async function withServer(isFull, work, ...flags) {
  const cwd = mkdtempSync(join(folder, 'server-'));
  const bin = join(root, 'packages/idsmith/bin/idsmith.js');
  const assets = join(root, 'packages/console/dist');
  const server = spawn(
    process.execPath,
    [bin, 'serve', '--port', '0', '--json', '--log', 'error', '--assets', assets, ...flags],
    { cwd, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [line] = await once(server.stdout, 'data');
  const { url } = JSON.parse(line);
  const store = await openStore(`sqlite:${cwd}/ids.db`);
  const leases = isFull ? await fill(url, store, mode === 'all') : [];
  try {
    await work(url);
  } finally {
    await Promise.all(leases.map((lease) => lease.release()));
    await store.close();
    server.kill('SIGTERM');
    await once(server, 'exit');
  }
}

/** Puts samples in place of what depends on the time. */
async function fixTime(page, url) {
  await page.clock.setFixedTime(MOMENT);
  const change = (path, edit) =>
    page.route(
      (address) => address.href.startsWith(`${url}/v1/${path}`),
      async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: edit(await response.json()) });
      },
    );
  await change('history', () => sampleHistory());
  await change('server', (server) => ({ ...server, now: MOMENT, started: MOMENT - 9 * 86_400_000 }));
  await change('sequences?', (list) => ({
    ...list,
    sequences: list.sequences
      .map((each) => ({ ...each, forecast: FORECASTS[each.name] ?? each.forecast }))
      .sort((a, b) => (a.forecast?.seconds ?? Infinity) - (b.forecast?.seconds ?? Infinity)),
  }));
}

async function shoot(
  browser,
  url,
  { name, path, width, height = 900, colorScheme, scale = 1, wait, isFixed },
) {
  const context = await browser.newContext({
    colorScheme,
    viewport: { width, height },
    deviceScaleFactor: scale,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  if (isFixed) await fixTime(page, url);
  await page.goto(`${url}/#/${path}`);
  await page.locator('h1').waitFor();
  await page.waitForFunction(() => document.querySelector('.loading') === null);
  await wait?.(page);
  await page.evaluate(() => document.fonts.ready);
  // Charts and toasts settle.
  await sleep(300);
  // Clicks may have scrolled.
  await page.evaluate(() => scrollTo(0, 0));
  const file = join(target, `${name}.png`);
  await page.screenshot({ path: file, fullPage: !isFixed });
  await context.close();
  console.log(file, ...errors);
}

/** Every page, as the gallery shows it. */
const PAGES = [
  ['overview', 'overview'],
  ['inspect', 'inspect/1703865194431643648'],
  ['inspect-uuid', `inspect/${UUID}`],
  ['inspect-number', 'inspect/10001'],
  ['inspect-none', 'inspect'],
  ['mint', 'mint', (page) => page.getByRole('button', { name: 'Mint', exact: true }).click()],
  ['sequences', 'sequences'],
  ['sequence', 'sequences/tickets'],
  ['sequence-cjk', `sequences/${encodeURIComponent('注文番号-東京支店')}`],
  [
    'alter',
    'sequences/orders',
    async (page) => {
      await page.getByRole('button', { name: 'Alter or advance' }).click();
      await page.getByRole('dialog').waitFor();
    },
  ],
  ['leases', 'leases'],
  ['namespace', 'leases/shop'],
  ['ring', 'ring'],
  [
    'ring-plan',
    'ring',
    async (page) => {
      const example = page.getByRole('button', { name: 'Use the example' });
      if ((await example.count()) > 0) await example.click();
      await page.getByLabel('Host', { exact: true }).fill('10.0.0.4');
      await page.getByRole('button', { name: 'Calculate' }).click();
      await page.getByText('of the keys would move').waitFor();
    },
  ],
  ['health', 'health'],
  ['audit', 'audit'],
  [
    'search',
    'overview',
    async (page) => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type('or');
      await sleep(500);
    },
  ],
];

async function gallery(browser) {
  const shards = await startShards(3);
  for (const [state, isFull] of [
    ['empty', false],
    ['full', true],
  ])
    await withServer(
      isFull,
      async (url) => {
        // A few points of the history, so that charts are drawn.
        if (isFull) await sleep(21_000);
        // Without data, there is no sequence to show.
        const shown = PAGES.filter(([, path]) => isFull || !path.includes('sequences/'));
        for (const [page, path, wait] of shown.filter(
          ([name]) => wanted.length === 0 || wanted.includes(name),
        ))
          for (const [width, height] of [
            [1440, 900],
            [768, 1024],
            [390, 844],
          ])
            for (const colorScheme of ['light', 'dark'])
              await shoot(browser, url, {
                name: `${page}-${state}-${width}-${colorScheme}`,
                path,
                width,
                height,
                colorScheme,
                wait,
              }).catch((error) => console.log(`${page} ${state}: ${error.message.split('\n', 1)}`));
      },
      ...(isFull ? ['--shards', shards.file] : []),
    );
  shards.stop();
}

/** Redis servers for the page Ring. */
async function startShards(count) {
  const ports = Array.from({ length: count }, (_, i) => 17_931 + i);
  const servers = ports.map((port) =>
    spawn(
      process.env.REDIS_SERVER ?? 'redis-server',
      ['--port', String(port), '--save', '', '--dir', folder],
      { stdio: 'ignore' },
    ),
  );
  const file = join(folder, 'shards.json');
  const shards = Object.fromEntries(ports.map((port, i) => [i, [String(port), '127.0.0.1', i + 1]]));
  writeFileSync(file, JSON.stringify({ shards }));
  const stop = () => {
    for (const server of servers) server.kill();
  };
  return { file, stop };
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  mkdirSync(target, { recursive: true });
  if (mode === 'all') await gallery(browser);
  else
    await withServer(true, async (url) => {
      const common = { width: 1280, scale: 1.5, isFixed: true };
      await shoot(browser, url, {
        ...common,
        name: 'console-inspect',
        path: `inspect/${UUID}`,
        height: 560,
        colorScheme: 'light',
      });
      await shoot(browser, url, {
        ...common,
        name: 'console-overview',
        path: 'overview',
        height: 790,
        colorScheme: 'dark',
      });
    });
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
