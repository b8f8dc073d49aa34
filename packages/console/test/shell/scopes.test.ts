import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { ServerProcess } from '#services/process.ts';
import { createToken } from '../../../server/src/auth/tokens.ts';
import { launch, startConsole, Visit } from '../support/console.ts';

await describeWith(['chromium'], 'a token without all scopes', () => {
  let server: ServerProcess;
  let browser: Browser;
  const tokens: Record<string, string> = {};

  beforeAll(async () => {
    [server, browser] = await Promise.all([startConsole(), launch()]);
    await fetch(`${server.url}/v1/sequences`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"orders"}',
    });
    const file = join(server.dir, 'idsmith.tokens.json');
    for (const scope of ['mint', 'lease', 'admin'] as const)
      tokens[scope] = await createToken(file, { name: scope, scopes: [scope] });
    await server.restart();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  async function open(scope: string, path: string): Promise<Visit> {
    const visit = await Visit.open(browser, server, path);
    await visit.field('Token').fill(tokens[scope]!);
    await visit.button('Use token').click();
    await visit.page.getByRole('dialog').waitFor({ state: 'detached' });
    return visit;
  }

  it('shows what it may not do as disabled, with the reason', async () => {
    const visit = await open('mint', 'sequences');
    const reason = 'the token of this tab does not have the scope admin, only mint';
    await visit.page.getByText(`Defining, altering and removing are not possible here: ${reason}.`).waitFor();
    for (const name of ['Define a sequence', 'Alter orders', 'Remove orders']) {
      const button = visit.button(name);
      expect(await button.getAttribute('aria-disabled')).toBe('true');
      expect(await button.getAttribute('title')).toBe(reason);
      await button.click({ force: true });
    }
    expect(await visit.page.getByRole('dialog').count()).toBe(0);
    // The keyboard reaches the button and its reason.
    await visit.button('Define a sequence').focus();
    await visit.page.keyboard.press('Enter');
    expect(await visit.page.getByRole('dialog').count()).toBe(0);
    await visit.go('mint');
    await visit.button('Mint').click();
    await visit.heading('5 ids: Flake').waitFor();
    await visit.close();
  });

  it('does not mint without the scope for it, by the Enter key either', async () => {
    const visit = await open('admin', 'mint');
    await visit.page
      .getByText(
        'Minting is not possible here: the token of this tab does not have the scope mint, only admin.',
      )
      .waitFor();
    expect(await visit.button('Mint').getAttribute('aria-disabled')).toBe('true');
    await visit.button('Mint').click({ force: true });
    await visit.field('Count').press('Enter');
    await visit.go('sequences');
    await visit.button('Define a sequence').click();
    await visit.page.getByRole('dialog', { name: 'Define a sequence' }).waitFor();
    expect(visit.requests.filter((url) => url.includes('/v1/flakes'))).toEqual([]);
    await visit.close();
  });
});
