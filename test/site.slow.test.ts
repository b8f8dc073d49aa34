import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { depth } from './depth.ts';
import { describeWith, shared } from './services/index.ts';

// The site as it is published, in a browser: every page at the width of a phone, a tablet and a desk.

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'site/dist');
/** Pages of the project lie below the name of the project. */
const BASE = '/idsmith/';
const WIDTHS = [390, 768, 1440];
const MINUTE = 60_000;

const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/** Gives files as Pages does: addresses without `.html`. */
function serve(): Server {
  return createServer(({ url = '/' }, response) => {
    const path = decodeURIComponent(new URL(url, 'http://site').pathname);
    const name = path.startsWith(BASE) ? path.slice(BASE.length) : '';
    const file = [name, `${name}.html`, join(name, 'index.html')]
      .map((each) => join(dist, each))
      .find((each) => extname(each) !== '' && existsSync(each));
    response.writeHead(file === undefined ? 404 : 200, { 'content-type': TYPES[extname(file ?? '')] ?? '' });
    response.end(file === undefined ? '' : readFileSync(file));
  });
}

await describeWith(['chromium'], 'The site', () => {
  let server: Server;
  let browser: Browser;
  let site: string;
  let pages: string[];

  beforeAll(async () => {
    // The build checks every link and every place within a page.
    execFileSync('npm', ['run', '--silent', 'docs'], { cwd: root, env: { ...process.env, SITE_BASE: BASE } });
    pages = readdirSync(dist, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.html') && file !== '404.html')
      .map((file) => file.replace(/(index)?\.html$/, ''));
    server = serve();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    site = `http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE}`;
    browser = await chromium.connect((await shared('chromium')).url);
  }, 15 * MINUTE);

  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  /** A page that remembers what went wrong in it, and asks nobody but the site. */
  async function open(width: number, faults: string[]): Promise<Page> {
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('response', (response) => response.status() >= 400 && faults.push(`404: ${response.url()}`));
    page.on('request', (request) => request.url().startsWith(site) || faults.push(`away: ${request.url()}`));
    return page;
  }

  it('shows pages at each width, without an error, a missing file or a scroll bar to the side', {
    timeout: 15 * MINUTE,
  }, async () => {
    const faults: string[] = [];
    const page = await open(1440, faults);
    expect(pages.length).toBeGreaterThan(60);
    // The build has looked at all of them; `npm run test:long` opens all of them, too.
    for (const path of pages.filter((_, at) => depth > 0 || at % 8 === 0)) {
      await page.goto(site + path, { waitUntil: 'load' });
      if ((await page.title()) === '') faults.push(`${path} has no title`);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        if (Number(wide) > 0) faults.push(`${path} is ${wide} px too wide for ${width} px`);
        // On a phone nothing hides at the side. Elsewhere a wide table may scroll in its box.
        const hidden = await page.evaluate(`[...document.querySelectorAll('.vp-doc .table')]
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1).length`);
        if (width === 390 && Number(hidden) > 0) faults.push(`${path} has ${hidden} tables that scroll`);
      }
    }
    await page.close();
    expect(faults).toEqual([]);
  });

  it('helps to choose an id', async () => {
    const faults: string[] = [];
    const page = await open(1440, faults);
    await page.goto(`${site}which-id`);
    await page.getByRole('group', { name: 'It has no gaps' }).getByText('yes').click();
    expect(await page.locator('.chooser .found b').allTextContents()).toEqual([
      'gapless in your transaction',
      'series: ids.series()',
    ]);
    await page.close();
    expect(faults).toEqual([]);
  });

  it('mints and reads ids of every kind in the page', async () => {
    const faults: string[] = [];
    const page = await open(1440, faults);
    await page.goto(`${site}playground`);
    const kinds = page.getByRole('group', { name: 'Kind of id' }).getByRole('button');
    for (const [kind, first] of [
      ['Flake', 'Flake, jflake (63 bits)'],
      ['UUIDv7', 'UUID'],
      ['Typed id', 'Typed id'],
      ['Sequence', 'Sequence number'],
      ['Series', 'Series'],
      ['Locality UUID', 'Locality UUID'],
      ['Sharded key', 'Sharded key'],
      ['Public id', 'Public id'],
    ] as const) {
      await kinds.getByText(kind, { exact: true }).click();
      await expect.poll(() => page.locator('.reading h2').first().innerText()).toContain(first);
      const ids = await page.locator('.minted button').allTextContents();
      expect(new Set(ids).size).toBe(5);
    }
    await page.getByLabel('Read an id').fill('20be0ffc-314a-bd53-7a50-013a65ca76d2');
    await expect.poll(() => page.locator('.reading .cells span').count()).toBe(128);
    await page.close();
    expect(faults).toEqual([]);
  });

  it.each([
    ['duplicate ids', 'I have duplicate ids'],
    ['redis wait', 'Why does a new Redis wait?'],
    ['gapless', 'Gapless numbers'],
  ])('finds "%s"', async (words, found) => {
    const faults: string[] = [];
    const page = await open(1440, faults);
    await page.goto(`${site}which-id`);
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.locator('#localsearch-input').fill(words);
    await expect.poll(() => page.locator('.results .result').first().innerText()).toContain(found);
    await page.close();
    expect(faults).toEqual([]);
  });
});
