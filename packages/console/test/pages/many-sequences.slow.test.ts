import type { Store } from 'idsmith';
import { openStore } from 'idsmith/stores';
import Database from 'libsql';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { ServerProcess } from '#services/process.ts';
import { launch, startConsole, Visit } from '../support/console.ts';

/** Defines so many sequences like the first one in one step. One by one, each would wait for the disk. */
function copySequence(file: string, count: number): void {
  const db = new Database(file);
  const columns = db.prepare("SELECT name FROM pragma_table_info('id_sequences')").all() as {
    name: string;
  }[];
  const others = columns.map(({ name }) => name).filter((name) => name !== 'name');
  db.exec(`WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count})
    INSERT INTO id_sequences (name, ${others})
    SELECT printf('tenant-%04d', i), ${others} FROM numbers, id_sequences WHERE name = 'tenant-0000'`);
  db.close();
}

await describeWith(['chromium'], 'the console with 5,000 sequences', () => {
  let server: ServerProcess;
  let browser: Browser;
  let visit: Visit;
  let store: Store;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startConsole(), launch()]);
    store = await openStore(`sqlite:${server.dir}/ids.db`);
    await store.defineSequence({ name: 'tenant-0000' });
    copySequence(`${server.dir}/ids.db`, 4999);
    await draw('tenant-3210', 500);
    visit = await Visit.open(browser, server, 'sequences');
  });
  afterAll(async () => {
    await visit?.close();
    await browser?.close();
    await store?.close();
    await server?.stop();
  });

  const draw = (name: string, count: number) =>
    fetch(`${server.url}/v1/sequences/${name}/next?count=${count}`, { method: 'POST' });
  const names = () => visit.page.locator('tbody th .name').allTextContents();
  const lists = () =>
    visit.requests.map((url) => new URL(url)).filter((url) => url.pathname.endsWith('/v1/sequences'));

  it('shows a page of them, and the pages around it', async () => {
    await visit.page.getByText('1 – 50 of 5,000').waitFor();
    expect(await names()).toHaveLength(50);
    expect(await visit.button('Previous').isDisabled()).toBe(true);
    await visit.button('Next').click();
    await visit.page.getByText('51 – 100 of 5,000').waitFor();
    await visit.row('tenant-0050').waitFor();
    expect(await names()).toEqual(Array.from({ length: 50 }, (_, i) => `tenant-00${50 + i}`));
    await visit.button('Previous').click();
    await visit.row('tenant-0000').waitFor();
    await visit.page.getByText('1 – 50 of 5,000').waitFor();
  });

  it('searches once the user has stopped typing, with one request', async () => {
    const before = lists().length;
    await visit.typeAtOnce(visit.field('Search names'), 'TENANT-432');
    await visit.row('tenant-4321').waitFor();
    expect(await names()).toHaveLength(10);
    const searches = lists()
      .slice(before)
      .map((url) => url.searchParams.get('q') ?? '');
    expect([...new Set(searches)].filter((q) => q !== '')).toEqual(['TENANT-432']);
    expect(visit.page.url()).toBe(`${server.url}/#/sequences?q=TENANT-432`);
    await visit.field('Search names').fill('nobody');
    await visit.page.getByText('No name contains “nobody”').waitFor();
    await visit.field('Search names').fill('');
    await visit.page.getByText('1 – 50 of 5,000').waitFor();
  });

  it('sorts the whole list, not the page', async () => {
    await visit.field('Sort by').selectOption({ label: 'most ids handed out' });
    await visit.row('tenant-3210').waitFor();
    expect((await names())[0]).toBe('tenant-3210');
  });

  it('takes no list again that has not changed', async () => {
    const isList = (url: string) => url.includes('/v1/sequences?');
    await visit.page.waitForResponse((each) => isList(each.url()) && each.status() === 304);
    await visit.row('tenant-3210').waitFor();
    // A change shows at once.
    await draw('tenant-1234', 700);
    await visit.row('tenant-1234').waitFor();
    expect((await names())[0]).toBe('tenant-1234');
  });

  it('suggests a few names to mint from, and asks when the user has stopped typing', async () => {
    await visit.go('mint');
    await visit.page.getByText('Sequence', { exact: true }).click();
    await visit.page.getByText('one of 5,000 defined sequences').waitFor();
    const before = lists().length;
    await visit.typeAtOnce(visit.page.getByRole('combobox', { name: 'Sequence' }), 'tenant-43');
    await visit.page.getByText('100 names contain this').waitFor();
    expect(lists().length - before).toBeLessThanOrEqual(2);
    expect(await visit.page.locator('datalist option').count()).toBe(20);
  });

  it('looks for a number in the busiest ones, and says so', async () => {
    await visit.go('inspect/600');
    await visit.row('tenant-1234').getByText('yes, in a block').waitFor();
    await visit.page.getByText('4,800 others were not').waitFor();
  });

  it('never asks for the whole list', () => {
    expect(lists().length).toBeGreaterThan(8);
    expect(lists().filter((url) => !(Number(url.searchParams.get('limit')) <= 200))).toEqual([]);
  });
});
