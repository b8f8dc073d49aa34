import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/services/index.ts';
import type { ServerProcess } from '../../../../test/services/process.ts';
import { launch, startConsole, Visit } from '../support/console.ts';

await describeWith(['chromium'], 'a server that goes away', () => {
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

  const banner = () => visit.page.getByRole('alert').filter({ hasText: 'it is asked again by itself' });

  it('is noticed, and found again by itself', async () => {
    await visit.button('Mint').click();
    await visit.heading('5 ids: Flake').waitFor();
    await server.kill();
    await visit.button('Mint').click();
    await banner().waitFor();
    await visit.page.getByText('Server: Away').waitFor();
    // What was there can still be read.
    expect(await visit.page.getByRole('listitem').locator('a.mono').count()).toBe(5);
    await server.start();
    await banner().waitFor({ state: 'detached' });
    await visit.page.getByText('The server is back.').waitFor();
    await visit.button('Mint').click();
    await visit.page.getByText('Server: Ready').waitFor();
  });

  it('is noticed by a page that only looks, which goes on with fresh numbers', async () => {
    await visit.go('leases');
    const holder = visit.button(/^Node \d+: held by/).first();
    await holder.waitFor();
    const before = await holder.getAttribute('aria-label');
    await server.shutdown();
    await banner().waitFor();
    expect(await holder.getAttribute('aria-label')).toBe(before);
    await server.start();
    await visit
      .button('Try now')
      .click({ timeout: 2000 })
      .catch(() => {});
    await banner().waitFor({ state: 'detached' });
    await visit.page.waitForFunction(
      (label) => document.querySelector('.node-state__held[data-node]')?.getAttribute('aria-label') !== label,
      before,
    );
  });

  it('asks less and less often while it is away, or at once when it is told to', async () => {
    await server.kill();
    await banner().waitFor();
    const first = visit.requests.length;
    const gone = Date.now();
    const probe = async () => {
      await visit.page.waitForEvent('requestfailed', (request) => request.url().endsWith('/healthz'));
      return Date.now();
    };
    const [one, two] = [await probe(), await probe()];
    expect(two - one).toBeGreaterThan(1.3 * (one - gone));
    expect(new Set(visit.requests.slice(first))).toEqual(new Set([`${server.url}/healthz`]));
    const [asked] = await Promise.all([probe(), visit.button('Try now').click()]);
    expect(asked - two).toBeLessThan(1900);
    await server.start();
    await banner().waitFor({ state: 'detached' });
  });
});
