import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { ServerProcess } from '#services/process.ts';
import { createToken, revokeToken } from '../../../server/src/auth/tokens.ts';
import { launch, startConsole, Visit } from '../support/console.ts';

await describeWith(['chromium'], 'the token dialog', () => {
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

  const dialog = () => visit.page.getByRole('dialog', { name: 'This server requires a token' });

  it('breaks no flag of the command that makes a token, on any width', async () => {
    await dialog().waitFor();
    const size = visit.page.viewportSize();
    for (const width of [1280, 700, 480, 420, 390, 360, 320]) {
      await visit.page.setViewportSize({ width, height: 900 });
      expect(await dialog().locator('code').evaluate(brokenFlags), `${width} px`).toEqual([]);
    }
    if (size) await visit.page.setViewportSize(size);
  });

  it('asks for a token, rejects a wrong one, and accepts a good one', async () => {
    await dialog().waitFor();
    await visit.button('Use token').click();
    expect(await visit.errorOf('Token')).toBe('Enter a token.');
    await visit.field('Token').fill('not ☃ a token');
    await visit.button('Use token').click();
    await visit.page.getByText('This is not a token').waitFor();
    await visit.field('Token').fill(`${minter.slice(0, -1)}${minter.endsWith('A') ? 'B' : 'A'}`);
    await visit.button('Use token').click();
    await visit.page.getByText(/^The server rejects this token: .* revoked: .*\.$/).waitFor();
    await visit.field('Token').fill(minter);
    await visit.button('Use token').click();
    await dialog().waitFor({ state: 'detached' });
    await visit.page.getByText('No sequence is defined').waitFor();
  });

  it('keeps the token in the tab, and nowhere else', async () => {
    await visit.page.reload();
    await visit.page.getByText('No sequence is defined').waitFor();
    const kept = await visit.page.evaluate(() => [JSON.stringify({ ...localStorage }), document.cookie]);
    expect(kept.join()).not.toContain(minter);
    expect(visit.requests.filter((url) => url.includes(minter))).toEqual([]);
  });

  it('forgets a token and takes another one', async () => {
    await visit.button('Forget token of this tab').click();
    await dialog().waitFor();
    await visit.field('Token').fill(admin);
    await visit.page.keyboard.press('Enter');
    await dialog().waitFor({ state: 'detached' });
    await visit.button('Define a sequence').click();
    await visit.field('Name').fill('orders');
    await visit.button('Define').click();
    await visit.page.getByText('Sequence orders is defined.').waitFor();
  });

  it('stays closed after “Not now” until the user opens it', async () => {
    const other = await Visit.open(browser, server, 'sequences');
    await other.button('Not now').click();
    await other.page.getByText('This server requires a token.').waitFor();
    await other.page.waitForResponse((response) => response.status() === 401);
    expect(await other.page.getByRole('dialog').count()).toBe(0);
    await other.button('Enter a token').click();
    await other.field('Token').fill(minter);
    await other.button('Use token').click();
    await other.row('orders').waitFor();
    await other.close();
  });

  it('opens again when the token is revoked', async () => {
    await revokeToken(join(server.dir, 'idsmith.tokens.json'), 'operator');
    await dialog().waitFor();
    expect(await visit.noteOf('Token')).toBe(
      'The server no longer accepts the token of this tab. It may have been revoked.',
    );
  });
});

/** The flags within an element that are on more than one line. */
function brokenFlags(element: Element): string[] {
  const broken: string[] = [];
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
    for (const { 0: flag, index } of (text.nodeValue ?? '').matchAll(/--[a-z]+/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + flag.length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(flag);
    }
  return broken;
}
