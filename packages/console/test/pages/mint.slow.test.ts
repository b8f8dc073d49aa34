import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LocalityUuid, layouts } from 'idsmith';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, startRedis } from '#services';
import { makeFolder, removeFolder } from '#services/guard.ts';
import type { ServerProcess } from '#services/process.ts';
import { launch, startConsole, Visit } from '../support/console.ts';

await describeWith(['chromium', 'redis'], 'the page Mint', () => {
  const folder = makeFolder('shards');
  let redis: ServerProcess;
  let server: ServerProcess;
  let browser: Browser;
  let visit: Visit;

  beforeAll(async () => {
    redis = await startRedis();
    const shards = join(folder, 'shards.json');
    writeFileSync(
      shards,
      JSON.stringify({ shards: { a: [redis.port, '127.0.0.1', 1] }, options: { keyTypes: { user: 1 } } }),
    );
    [server, browser] = await Promise.all([startConsole('--shards', shards), launch()]);
    visit = await Visit.open(browser, server, 'mint');
  });
  afterAll(async () => {
    await visit?.close();
    await browser?.close();
    await server?.stop();
    await redis?.stop();
    await removeFolder(folder);
  });

  const choose = (family: string) => visit.page.getByText(family, { exact: true }).click();

  /** Mints and returns the ids that the page shows. */
  async function mint(title: string): Promise<string[]> {
    await visit.button('Mint').click();
    await visit.heading(title).waitFor();
    return visit.page.getByRole('listitem').locator('a.mono').allTextContents();
  }

  it('mints flakes, and copies one or all of them', async () => {
    await visit.field('Count').fill('12');
    const ids = await mint('12 ids: Flake');
    expect(new Set(ids).size).toBe(12);
    for (const id of ids) expect(Date.now() - layouts.jflake.decode(id).timestamp).toBeLessThan(60_000);
    await visit.button(`Copy ${ids[3]}`).click();
    await visit.page.getByText(`Copied ${ids[3]}.`).waitFor();
    expect(await visit.clipboard()).toBe(ids[3]);
    await visit.button('Copy all 12 ids').click();
    await visit.page.getByText('Copied all 12 ids.').waitFor();
    expect(await visit.clipboard()).toBe(ids.join('\n'));
  });

  it('copies all ids, even those that it does not show', async () => {
    await visit.field('Count').fill('1500');
    const shown = await mint('1,500 ids: Flake');
    expect(shown).toHaveLength(200);
    await visit.page.getByText('1,300 more ids are not shown').waitFor();
    await visit.button('Copy all 1,500 ids').click();
    await visit.page.getByText('Copied all 1,500 ids.').waitFor();
    expect(new Set((await visit.clipboard()).split('\n')).size).toBe(1500);
  });

  it('mints locality UUIDs of both modes', async () => {
    await choose('Locality UUID');
    await visit.field('Count').fill('3');
    const spread = await mint('3 ids: Locality UUID');
    await choose('Sequential (kept together)');
    await visit.field('Count').fill('4');
    const together = await mint('4 ids: Locality UUID');
    for (const id of [...spread, ...together]) expect(LocalityUuid.parse(id).version).toBe('b');
    const counters = together.map((id) => Number.parseInt(id.slice(0, 8), 16));
    expect(counters).toEqual(counters.map((_, i) => counters[0]! + i));
  });

  it('mints UUIDs of version 7', async () => {
    await choose('UUIDv7');
    await visit.field('Count').fill('3');
    const ids = await mint('3 ids: UUIDv7');
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect([...ids].sort()).toEqual(ids);
  });

  it('mints ids of a sequence', async () => {
    await fetch(`${server.url}/v1/sequences`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"orders","start":"9007199254740993"}',
    });
    await choose('Sequence');
    await visit.field('Sequence').last().fill('orders');
    await visit.field('Count').fill('3');
    expect(await mint('3 ids: Sequence')).toEqual([
      '9007199254740993',
      '9007199254740994',
      '9007199254740995',
    ]);
  });

  it('mints keys of a type', async () => {
    await choose('Sharded key');
    await visit.field('Type').fill('user');
    await visit.field('Count').fill('2');
    const keys = await mint('2 ids: Sharded key');
    expect(keys).toEqual([expect.stringMatching(/^\w{6,}01$/), expect.stringMatching(/^\w{6,}01$/)]);
    expect(new Set(keys).size).toBe(2);
  });

  it.each([
    ['Flake', 'Count', '10001', 'Count must be a whole number from 1 to 10000, not 10001.'],
    ['Flake', 'Count', '0', 'Count must be a whole number from 1 to 10000, not 0.'],
    ['Locality UUID', 'Count', 'many', 'Count must be a whole number from 1 to 10000, not "many".'],
    ['Sequence', 'Sequence', 'nothing', 'There is no sequence "nothing".'],
    ['Sequence', 'Sequence', '', 'Enter the name of a sequence.'],
    ['Sharded key', 'Type', 'nobody', 'Type must be one of "$DEF", "user", or a number, not "nobody".'],
    ['Sharded key', 'Type', '3844', 'Type must be a name, or a number from 0 to 3843.'],
  ])('answers %s with %s %j beside the field', async (family, label, value, message) => {
    await visit.page.reload();
    await visit.heading('Mint').waitFor();
    await choose(family);
    await visit.page.getByRole(label === 'Sequence' ? 'combobox' : 'textbox', { name: label }).fill(value);
    await visit.button('Mint').click();
    const wrong = visit.page.locator('[aria-invalid="true"]');
    await wrong.waitFor();
    expect(await wrong.evaluate((input) => input === document.activeElement)).toBe(true);
    const note = visit.page.locator(`[id="${await wrong.getAttribute('aria-describedby')}"]`);
    expect(await note.textContent()).toBe(message);
  });
});
