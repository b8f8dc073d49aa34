import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { ServerProcess } from '#services/process.ts';
import { launch, startConsole, Visit } from '../support/console.ts';

await describeWith(['chromium'], 'the banner of an unreachable server', () => {
  let server: ServerProcess;
  let browser: Browser;
  let visit: Visit;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startConsole(), launch()]);
    visit = await Visit.open(browser, server, 'mint');
  });
  afterAll(async () => {
    await visit?.close();
    await browser?.close();
    await server?.stop();
  });

  const banner = () => visit.page.getByRole('alert').filter({ hasText: 'keeps trying to reconnect' });

  it('appears after a failed request, and goes when the server responds', async () => {
    await visit.button('Mint').click();
    await visit.heading('5 ids: Flake').waitFor();
    await server.kill();
    await visit.button('Mint').click();
    await banner().waitFor();
    await visit.page.getByText('Server: Unreachable').waitFor();
    // The ids that were minted before stay visible.
    expect(await visit.page.getByRole('listitem').locator('a.mono').count()).toBe(5);
    await server.start();
    await banner().waitFor({ state: 'detached' });
    await visit.page.getByText('Connected to the server again.').waitFor();
    await visit.button('Mint').click();
    await visit.page.getByText('Server: Ready').waitFor();
  });

  it('appears on a page that only polls, which then continues with new data', async () => {
    await visit.go('leases');
    const holder = visit.button(/^Node \d+: held by/).first();
    await holder.waitFor();
    await server.shutdown();
    await banner().waitFor();
    // The last data stays.
    const before = await holder.getAttribute('aria-label');
    expect(before).toMatch(/^Node \d+: held by/);
    await server.start();
    await visit
      .button('Retry now')
      .click({ timeout: 2000 })
      .catch(() => {});
    await banner().waitFor({ state: 'detached' });
    await visit.page.waitForFunction(
      (label) => document.querySelector('.node-state__held[data-node]')?.getAttribute('aria-label') !== label,
      before,
    );
  });

  it('checks the server, and nothing else, by itself and at once on request', async () => {
    await server.kill();
    await banner().waitFor();
    const first = visit.requests.length;
    const probe = () =>
      visit.page.waitForEvent('requestfailed', (request) => request.url().endsWith('/healthz'));
    await probe();
    await probe();
    expect(new Set(visit.requests.slice(first))).toEqual(new Set([`${server.url}/healthz`]));
    // On the clock of a page that stands still, no check comes by itself.
    await visit.page.clock.install();
    await probe();
    await visit.page.clock.pauseAt(new Date(Date.now() + 60_000));
    // The leap to that time may have brought one check, but not three.
    for (let i = 0; i < 3; i++) await Promise.all([probe(), visit.button('Retry now').click()]);
    await visit.page.clock.resume();
    await server.start();
    await banner().waitFor({ state: 'detached' });
  });
});
