import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, shared } from '#services';
import { example } from './program.ts';

await describeWith(['chromium'], 'The example of a browser page', () => {
  let server: Server;
  let browser: Browser;

  beforeAll(async () => {
    const { outputFiles } = await build({
      entryPoints: [example('browser/main.mjs')],
      bundle: true,
      format: 'esm',
      write: false,
    });
    const page = readFileSync(example('browser/index.html'), 'utf8');
    server = createServer(({ url }, response) => {
      const isCode = url === '/out.js';
      response.setHeader('content-type', isCode ? 'text/javascript' : 'text/html');
      response.end(isCode ? outputFiles[0]?.text : page);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    browser = await chromium.connect((await shared('chromium')).url);
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  it('makes ids in order, and tells what an id says', async () => {
    const page = await browser.newPage();
    const errors: Error[] = [];
    page.on('pageerror', (error) => errors.push(error));
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    for (let i = 0; i < 3; i++) await page.click('#add');
    const drafts = await page.locator('#drafts li').allTextContents();
    expect(drafts).toHaveLength(3);
    expect(drafts).toEqual([...drafts].sort());
    for (const draft of drafts)
      expect(draft).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    await page.fill('#id', '20be0ffc-314a-bd53-7a50-013a65ca76d2');
    expect(await page.textContent('#reading')).toMatch(/^locality, /);
    await page.fill('#id', 'no id!');
    expect(await page.textContent('#reading')).toBe('not an id');
    expect(errors).toEqual([]);
  });
});
