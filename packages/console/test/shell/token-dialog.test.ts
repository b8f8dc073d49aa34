import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/services/index.ts';
import type { ServerProcess } from '../../../../test/services/process.ts';
import { createToken, revokeToken } from '../../../server/src/auth/tokens.ts';
import { launch, startConsole, Visit } from '../support/console.ts';

await describeWith(['chromium'], 'a server that wants a token', () => {
  let server: ServerProcess;
  let browser: Browser;
  let visit: Visit;
  let [admin, minter] = ['', ''];

  beforeAll(async () => {
    [server, browser] = await Promise.all([startConsole(), launch()]);
    const file = join(server.dir, 'idsmith.tokens.json');
    admin = await createToken(file, { name: 'operator', scopes: ['mint', 'lease', 'admin'] });
    minter = await createToken(file, { name: 'app', scopes: ['mint'] });
    await server.restart();
    visit = await Visit.open(browser, server, 'sequences');
  });
  afterAll(async () => {
    await visit?.close();
    await browser?.close();
    await server?.stop();
  });

  const dialog = () => visit.page.getByRole('dialog', { name: 'This server wants a token' });

  it('is asked for, refused, and accepted', async () => {
    await dialog().waitFor();
    await visit.button('Use token').click();
    expect(await visit.errorOf('Token')).toBe('A token is needed.');
    await visit.field('Token').fill('not ☃ a token');
    await visit.button('Use token').click();
    await visit.page.getByText('This is not a token').waitFor();
    await visit.field('Token').fill(`${minter.slice(0, -1)}${minter.endsWith('A') ? 'B' : 'A'}`);
    await visit.button('Use token').click();
    await visit.page
      .getByText('The server refuses it: this token is not known here, or was revoked.')
      .waitFor();
    await visit.field('Token').fill(minter);
    await visit.button('Use token').click();
    await dialog().waitFor({ state: 'detached' });
    await visit.page.getByText('No sequence is defined').waitFor();
  });

  it('is kept in the tab, and nowhere else', async () => {
    await visit.page.reload();
    await visit.page.getByText('No sequence is defined').waitFor();
    const kept = await visit.page.evaluate(() => [JSON.stringify({ ...localStorage }), document.cookie]);
    expect(kept.join()).not.toContain(minter);
    expect(visit.requests.filter((url) => url.includes(minter))).toEqual([]);
  });

  it('may not be enough, which is said plainly', async () => {
    await visit.button('Define a sequence').click();
    await visit.field('Name').fill('orders');
    await visit.button('Define').click();
    const alert = visit.page.getByRole('dialog').getByRole('alert');
    expect(await alert.textContent()).toBe('This needs a token with the scope admin.');
    await visit.button('Cancel').click();
  });

  it('can be forgotten, and another one given', async () => {
    await visit.button('Forget the token of this tab').click();
    await dialog().waitFor();
    await visit.field('Token').fill(admin);
    await visit.page.keyboard.press('Enter');
    await dialog().waitFor({ state: 'detached' });
    await visit.button('Define a sequence').click();
    await visit.field('Name').fill('orders');
    await visit.button('Define').click();
    await visit.page.getByText('Sequence orders is defined.').waitFor();
  });

  it('is not asked for again and again once somebody has said not now', async () => {
    const other = await Visit.open(browser, server, 'sequences');
    await other.button('Not now').click();
    await other.page.getByText('This server shows nothing without a token.').waitFor();
    await other.page.waitForResponse((response) => response.status() === 401);
    expect(await other.page.getByRole('dialog').count()).toBe(0);
    await other.button('Give a token').click();
    await other.field('Token').fill(minter);
    await other.button('Use token').click();
    await other.row('orders').waitFor();
    await other.close();
  });

  it('is asked for again once it is revoked', async () => {
    await revokeToken(join(server.dir, 'idsmith.tokens.json'), 'operator');
    await dialog().waitFor();
    expect(await visit.noteOf('Token')).toBe(
      'The token of this tab is not known to the server, or was revoked.',
    );
  });
});

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
