import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { ServerProcess } from '#services/process.ts';
import { launch, startConsole, Visit } from '../support/console.ts';

await describeWith(['chromium'], 'the page Health', () => {
  let server: ServerProcess;
  let browser: Browser;
  let visit: Visit;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startConsole(), launch()]);
    visit = await Visit.open(browser, server, 'health');
  });
  afterAll(async () => {
    await visit?.close();
    await browser?.close();
    await server?.stop();
  });

  const post = (path: string) => fetch(`${server.url}/v1/${path}`, { method: 'POST' });
  const chart = (name: RegExp) => visit.page.getByRole('img', { name });
  const stat = (label: string) => visit.page.locator('.stat').filter({ hasText: label });

  it('shows ids per second as they are minted', async () => {
    await chart(/^Ids per second, now: flake 0, locality 0/).waitFor();
    await post('flakes?count=5000');
    await chart(/^Ids per second, now: flake [1-9]/).waitFor();
    await post('uuid7?count=5000');
    await chart(/^Ids per second, now: .*uuid7 [1-9]/).waitFor();
    // The rate returns to 0 when nothing is minted.
    await chart(/^Ids per second, now: flake 0,/).waitFor();
  });

  it('draws lines', async () => {
    const plot = visit.page.locator('canvas').first();
    const colours = await plot.evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      const seen = new Set<string>();
      for (let i = 0; i < data.length; i += 4)
        if (data[i + 3] === 255) seen.add([data[i], data[i + 1], data[i + 2]].join());
      return [...seen];
    });
    expect(colours).toContain('36,89,211');
  });

  it('shows the latency of the store, and errors', async () => {
    await fetch(`${server.url}/v1/sequences`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"orders"}',
    });
    await post('sequences/orders/next?count=100');
    await chart(/^Store latency, now: median [\d.]+ [mµ]s, 99th percentile [\d.]+ [mµ]s$/).waitFor();
    await post('flakes?count=0');
    await chart(/^Errors per second, now: requests refused \(4xx\) (?!0,)/).waitFor();
  });

  it('shows the leases of the server, its memory and its event loop', async () => {
    await stat('Lease, flake').getByText('active').waitFor();
    expect(await stat('Lease, flake').textContent()).toMatch(/\d+ s until the fence$/);
    expect(await stat('Memory').textContent()).toMatch(/\d+ MB$/);
    expect(await stat('Event loop delay').textContent()).toMatch(/\d (ms|µs|s)99th percentile$/);
  });

  it('keeps its history while another page is open', async () => {
    await visit.page.getByRole('link', { name: 'Mint' }).click();
    await visit.heading('Mint').waitFor();
    await visit.page.getByRole('link', { name: 'Health' }).click();
    await chart(/^Ids per second, now: flake/).waitFor();
    expect(await visit.page.getByText('The chart starts with the second measurement').count()).toBe(0);
  });
});
