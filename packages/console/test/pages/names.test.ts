import type { Store } from 'idsmith';
import { openStore } from 'idsmith/stores';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { ServerProcess } from '#services/process.ts';
import { launch, startConsole, Visit } from '../support/console.ts';

await describeWith(['chromium'], 'names and labels that programs chose', () => {
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

  const held = (id: number, label: string) => {
    const until = Date.now() + 600_000;
    return store.swapLease('jflake', undefined, {
      id,
      owner: 'x',
      epoch: 1,
      fence: until,
      expiresAt: until,
      label,
    });
  };

  /** Nothing is wider than the window or its frame, wide or narrow. */
  async function expectNoSideScroll(): Promise<void> {
    for (const width of [1280, 1024, 390]) {
      await visit.page.setViewportSize({ width, height: 900 });
      expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      expect(await visit.cutTables()).toEqual([]);
    }
    await visit.page.setViewportSize({ width: 1280, height: 900 });
  }

  it('have their own direction, and no characters that cannot be seen', async () => {
    await held(3, 'web\u202e1-bew\u200b');
    // The timeline and the list of holders show the name, too, as soon as the server has noticed the lease.
    const name = visit.page.locator('bdi', { hasText: 'web' }).first();
    await name.waitFor();
    expect(await name.textContent()).toBe('webU+202E1-bewU+200B');
    expect(await name.getAttribute('title')).toBe('web[U+202E]1-bew[U+200B]');
    expect(await name.locator('.code-point').allTextContents()).toEqual(['U+202E', 'U+200B']);
    await visit.button(/^Node 3: held by web\[U\+202E\]1-bew\[U\+200B\], \d+ s left$/).click();
    await visit.page.locator('.leases__detail bdi', { hasText: 'web' }).first().waitFor();
    // No text and no attribute of the page has such a character.
    expect(await visit.page.content()).not.toMatch(/[\u200b\u202e]/);
  });

  it('are cut when they are long, with the whole text as a tooltip', async () => {
    const label = `host-${'x'.repeat(240)}-end`;
    await held(4, label);
    const name = visit.page.locator('td bdi', { hasText: 'host-' }).first();
    await name.waitFor();
    expect(await name.getAttribute('title')).toBe(label);
    const { width, isCut } = await name.evaluate((element) => ({
      width: element.getBoundingClientRect().width,
      isCut: element.scrollWidth > element.clientWidth,
    }));
    expect(width).toBeLessThan(420);
    expect(isCut).toBe(true);
    await visit.button(/^Node 4: held by host-/).click();
    await visit.page.locator('.leases__detail bdi', { hasText: 'host-' }).first().waitFor();
    await expectNoSideScroll();
  });

  it('can be told apart in the list of sequences', async () => {
    await store.defineSequence({ name: 'orders' });
    await store.defineSequence({ name: 'طلبات-2026' });
    await store.defineSequence({ name: `long-${'y'.repeat(249)}`, start: 9007199254740993000n });
    await visit.go('sequences');
    await visit.row('orders').waitFor();
    expect(await visit.page.locator('tbody th bdi').allTextContents()).toEqual([
      `long-${'y'.repeat(249)}`,
      'orders',
      'طلبات-2026',
    ]);
    await expectNoSideScroll();
    await visit.button(/^Remove long-/).click();
    await visit.page.getByRole('dialog', { name: /^Remove long-y{19}…y{23}\?$/ }).waitFor();
    await visit.button('Cancel').click();
  });
});
