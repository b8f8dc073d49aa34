import { join } from 'node:path';
import { LocalityUuid, layouts } from 'idsmith';
import { publicIds } from 'idsmith/public';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import { makeFolder, removeFolder } from '#services/guard.ts';
import type { ServerProcess } from '#services/process.ts';
import { createToken } from '../../../server/src/auth/tokens.ts';
import { launch, startConsole, Visit } from '../support/console.ts';
import { KEY, writePublicKeys } from '../support/public-keys.ts';

const orders = publicIds({ prefix: 'ord', keys: { 1: KEY } });
const users = publicIds({ prefix: 'usr', keys: { 1: KEY }, of: 'uuid' });
const invoices = publicIds({ prefix: 'inv', keys: { 1: KEY }, short: true });

await describeWith(['chromium'], 'public ids in the console', () => {
  const folder = makeFolder('public');
  let server: ServerProcess;
  let browser: Browser;
  let visit: Visit;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startConsole('--public-ids', writePublicKeys(folder)), launch()]);
    visit = await Visit.open(browser, server, 'mint');
  });
  afterAll(async () => {
    await visit?.close();
    await browser?.close();
    await server?.stop();
    await removeFolder(folder);
  });

  const choose = (family: string) => visit.page.getByText(family, { exact: true }).click();
  const optionsOf = () => visit.field('Public id').locator('option').allTextContents();

  /** Mints with a prefix, and returns each row of the page: the id and its public id. */
  async function mint(prefix: string, title: string): Promise<[string, string][]> {
    await visit.field('Public id').selectOption(prefix);
    await visit.button('Mint').click();
    await visit.heading(title).waitFor();
    const rows = visit.page.locator('tbody tr');
    return rows.evaluateAll((all) =>
      all.map((row) => Array.from(row.querySelectorAll('a'), (link) => link.textContent) as [string, string]),
    );
  }

  it('mints flakes with their public ids, and copies one or all of them', async () => {
    await visit.field('Public id').waitFor();
    expect(await optionsOf()).toEqual(['none', 'ord_…', 'inv_… (short)']);
    await visit.field('Count').fill('3');
    const pairs = await mint('ord', '3 ids: Flake');
    expect(pairs).toHaveLength(3);
    for (const [id, text] of pairs) {
      expect(Date.now() - layouts.jflake.decode(id).timestamp).toBeLessThan(60_000);
      expect(String(orders.decode(text))).toBe(id);
    }
    const [, second] = pairs;
    await visit.button(`Copy ${second![1]}`).click();
    await visit.page.getByText(`Copied ${second![1]}.`).waitFor();
    expect(await visit.clipboard()).toBe(second![1]);
    await visit.button('Copy all 3 public ids').click();
    await visit.page.getByText('Copied all 3 public ids.').waitFor();
    expect(await visit.clipboard()).toBe(pairs.map(([, text]) => text).join('\n'));
    await visit.button('Copy all 3 ids').click();
    await visit.page.getByText('Copied all 3 ids.').waitFor();
    expect(await visit.clipboard()).toBe(pairs.map(([id]) => id).join('\n'));
  });

  it('offers the prefixes that fit the family, and none for keys', async () => {
    await choose('Sharded key');
    expect(await visit.field('Public id').count()).toBe(0);
    await choose('Locality UUID');
    expect(await optionsOf()).toEqual(['none', 'usr_…']);
    // The prefix of flakes is not one of UUIDs.
    expect(await visit.field('Public id').inputValue()).toBe('');
    const pairs = await mint('usr', '3 ids: Locality UUID');
    for (const [id, text] of pairs) {
      expect(LocalityUuid.parse(id).version).toBe('b');
      expect(users.decode(text)).toBe(id);
    }
  });

  it('says beside the field how many short ids there may be', async () => {
    await choose('Flake');
    await visit.field('Public id').selectOption('inv');
    await visit.field('Count').fill('101');
    await visit.button('Mint').click();
    expect(await visit.errorOf('Count')).toBe('Count must be at most 100 for short public ids, not 101.');
    await visit.field('Count').fill('2');
    const pairs = await mint('inv', '2 ids: Flake');
    expect(pairs.map(([, text]) => String(invoices.decode(text)))).toEqual(pairs.map(([id]) => id));
  });

  it('inspects a public id, and the id inside it', async () => {
    await visit.page.locator('tbody td a').first().click();
    const panel = visit.page.getByRole('region', { name: 'Public id', exact: true });
    await panel.getByText('A public id of one of the keys.').waitFor();
    const pairs = await panel.locator('dl > div').allInnerTexts();
    expect(pairs.map((pair) => pair.split('\n'))).toEqual([
      ['prefix', 'inv'],
      ['form', 'short'],
      ['key id', '1'],
    ]);
    const inside = panel.getByTitle('Inspect');
    expect(String(invoices.decode(await visit.field('Id').inputValue()))).toBe(await inside.innerText());
    await panel.getByRole('button', { name: 'Copy the id inside' }).click();
    await visit.page.getByText('Copied the id inside.').waitFor();
    expect(await visit.clipboard()).toBe(await inside.innerText());
    await inside.click();
    await visit.page.getByRole('region', { name: 'Flake, jflake' }).waitFor();
  });

  it('says why it does not show the id inside', async () => {
    await visit.go(`inspect/${orders.encode(7n).replace('ord', 'foo')}`);
    await visit.page.getByText('This server has no key for the prefix foo.').waitFor();
    const forged = orders.encode(7n).replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    await visit.go(`inspect/${forged}`);
    await visit.page.getByText('but none of the keys has made it').waitFor();
    expect(await visit.page.getByText('The id inside is encrypted').count()).toBe(0);
  });

  it('does not show the id inside to a token without the scope admin', async () => {
    const token = await createToken(join(server.dir, 'idsmith.tokens.json'), {
      name: 'minting',
      scopes: ['mint'],
    });
    await server.restart();
    const minting = await Visit.open(browser, server, `inspect/${orders.encode(7n)}`);
    await minting.field('Token').fill(token);
    await minting.button('Use token').click();
    await minting.page.getByText('The server shows it to tokens with the scope admin only.').waitFor();
    expect(await minting.page.getByTitle('Inspect', { exact: true }).count()).toBe(0);
    await minting.close();
  });
});
