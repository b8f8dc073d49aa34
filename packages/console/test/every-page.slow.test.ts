import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { ServerProcess } from '#services/process.ts';
import { depth } from '../../../test/depth.ts';
import { createToken } from '../../server/src/auth/tokens.ts';
import { startIdsmith } from '../../server/test/support/process.ts';
import { launch, startConsole, Visit } from './support/console.ts';

/** Names that break pages which trust names. */
const NAMES = ['注文番号-東京支店', '<img src=x onerror=fail()>', '../a?b#c%2F', 'طلبات'];

/** Every page by its address, and its heading. */
const PAGES: readonly (readonly [path: string, heading: string])[] = [
  ['overview', 'Overview'],
  ['inspect/1703865194431643648', 'Inspect'],
  ['mint', 'Mint'],
  ['sequences', 'Sequences'],
  ...NAMES.map((name) => [`sequences/${encodeURIComponent(name)}`, name] as const),
  ['leases', 'Leases'],
  [`leases/${encodeURIComponent(NAMES[1]!)}`, 'Leases'],
  ['ring', 'Ring'],
  ['health', 'Health'],
  ['audit', 'Audit'],
];

/** Where a message of the shell is looked for: it is the same on all pages. */
const SOME_PAGES = PAGES.filter(([path]) => depth > 0 || ['overview', 'sequences', 'health'].includes(path));

await describeWith(['chromium'], 'every page of the console', () => {
  let store: ServerProcess;
  let server: ServerProcess;
  let browser: Browser;

  beforeAll(async () => {
    // The store is a process of its own, which can be away while the server runs.
    store = await startIdsmith('--log', 'error');
    [server, browser] = await Promise.all([startConsole('--store', store.url), launch()]);
    for (const name of NAMES)
      await fetch(`${server.url}/v1/sequences`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await store?.stop();
  });

  /** Goes to every page. `look` sees each one. */
  async function walk(visit: Visit, look: (heading: string) => Promise<unknown>, pages = PAGES) {
    for (const [path, heading] of pages) {
      await visit.go(path);
      await visit.page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
      await look(heading);
    }
  }

  const settled = (visit: Visit) =>
    visit.page.waitForFunction(() => document.querySelector('.loading') === null);

  it('shows names of every kind as text, with no error and nothing refused', async () => {
    const visit = await Visit.open(browser, server);
    await walk(visit, () => settled(visit));
    expect(visit.refusals).toEqual([]);
    await visit.close();
  });

  it('says why the server is not ready while the store is away, and what to do', async () => {
    const visit = await Visit.open(browser, server);
    await visit.page.getByText('Server: Ready').waitFor();
    await store.kill();
    // First the store, and after the ttl the leases that could not be renewed.
    const reason = visit.page
      .getByRole('alert')
      .filter({ hasText: /The server is not ready \((STORE|LEASE_FENCED)\)\..*when the store answers\./ });
    await walk(visit, () => reason.waitFor(), SOME_PAGES);
    await store.start();
    await reason.waitFor({ state: 'detached' });
    await visit.close();
  });

  it('says for how long a server that hangs has not answered', { timeout: 120_000 }, async () => {
    const visit = await Visit.open(browser, server);
    await visit.page.getByText('Server: Ready').waitFor();
    server.pause();
    const silence = visit.page.getByRole('alert').filter({ hasText: /has not answered for \d+/ });
    await walk(visit, () => silence.waitFor(), SOME_PAGES);
    server.resume();
    await silence.waitFor({ state: 'detached' });
    await visit.close();
  });

  describe('with a token of one scope', () => {
    const tokens: Record<string, string> = {};
    beforeAll(async () => {
      const file = join(server.dir, 'idsmith.tokens.json');
      for (const scope of ['mint', 'lease', 'admin'] as const)
        tokens[scope] = await createToken(file, { name: scope, scopes: [scope] });
      await server.restart();
    });

    it.each(['mint', 'lease', 'admin'])('opens for the scope %s, with its name in sight', async (scope) => {
      const visit = await Visit.open(browser, server);
      await visit.field('Token').fill(tokens[scope]!);
      await visit.button('Use token').click();
      await visit.page.getByRole('dialog').waitFor({ state: 'detached' });
      await visit.page.getByTitle(`Token ${scope}, scopes ${scope}`).waitFor();
      await walk(visit, () => settled(visit));
      await visit.close();
    });
  });
});
