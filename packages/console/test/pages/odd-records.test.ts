import type { Store } from 'idsmith';
import { openStore } from 'idsmith/stores';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { ServerProcess } from '#services/process.ts';
import { launch, startConsole, Visit } from '../support/console.ts';

await describeWith(['chromium'], 'the page Leases with a record that makes no sense', () => {
  let server: ServerProcess;
  let browser: Browser;
  let visit: Visit;
  let store: Store;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startConsole(), launch()]);
    store = await openStore(`sqlite:${server.dir}/ids.db`);
    visit = await Visit.open(browser, server, 'leases');
  });
  afterAll(async () => {
    await visit?.close();
    await browser?.close();
    await store?.close();
    await server?.stop();
  });

  const odd = { id: 7, owner: 'x', epoch: 1, fence: Number.MAX_SAFE_INTEGER, expiresAt: 1, label: 'odd one' };

  it('shows one row with a notice, and all others', async () => {
    await visit.button(/^Node 0: held by/).waitFor();
    expect(await store.swapLease('jflake', undefined, odd)).toBe(true);
    const row = visit.row('This record makes no sense');
    await row.waitFor();
    expect(await row.textContent()).toBe(
      '7 This record makes no sense: its fence 9007199254740991 is not a time before the year 10000.',
    );
    await visit.button(/^Node 0: held by/).waitFor();
    await visit.page
      .getByRole('listitem')
      .filter({ hasText: /^1 with an odd record$/ })
      .waitFor();
    await visit.button('Node 7: its record makes no sense').click();
    await visit.page.locator('.leases__detail').getByText('its fence 9007199254740991').waitFor();
    expect(await visit.page.getByText('This page failed').count()).toBe(0);
  });

  it('is as before once the record makes sense', async () => {
    expect(await store.swapLease('jflake', odd, { ...odd, fence: 1, epoch: 2, owner: null })).toBe(true);
    await visit.button('Node 7: free').waitFor();
    expect(await visit.page.getByText('makes no sense').count()).toBe(0);
  });
});
