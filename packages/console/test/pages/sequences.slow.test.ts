import type { Store } from 'idsmith';
import { openStore } from 'idsmith/stores';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { ServerProcess } from '#services/process.ts';
import { launch, startConsole, Visit } from '../support/console.ts';

await describeWith(['chromium'], 'the page Sequences', () => {
  let server: ServerProcess;
  let browser: Browser;
  let visit: Visit;
  /** The SQLite file of the server, opened by the test. */
  let store: Store;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startConsole(), launch()]);
    store = await openStore(`sqlite:${server.dir}/ids.db`);
    visit = await Visit.open(browser, server, 'sequences');
  });
  afterAll(async () => {
    await visit?.close();
    await browser?.close();
    await store?.close();
    await server?.stop();
  });

  const cellsOf = async (name: string) => {
    const row = visit.row(name);
    await row.waitFor();
    const cells = await row
      .locator('td[data-label]')
      .evaluateAll((found) =>
        found.map((cell) => [cell.getAttribute('data-label'), cell.textContent?.trim()]),
      );
    return Object.fromEntries(cells) as Record<string, string>;
  };

  async function open(button: string, title: string): Promise<void> {
    await visit.button(button).click();
    await visit.page.getByRole('dialog', { name: title }).waitFor();
  }

  it('tells that no sequence is defined', async () => {
    await visit.page.getByText('No sequence is defined').waitFor();
  });

  it('defines a sequence with exact 64-bit numbers', async () => {
    await open('Define the first one', 'Define a sequence');
    await visit.field('Name').fill('invoices/2026');
    await visit.field('Start').fill('9223372036854774807');
    await visit.field('Block size').fill('10');
    await visit.field('Lowest id').fill('9223372036854774000');
    await visit.button('Define').click();
    await visit.page.getByText('Sequence invoices/2026 is defined.').waitFor();
    expect(await cellsOf('invoices/2026')).toMatchObject({
      Next: '9223372036854774807',
      Block: '10',
      Step: '1',
    });
    expect(await store.describeSequence('invoices/2026')).toMatchObject({
      start: 9223372036854774807n,
      next: 9223372036854774807n,
      blockSize: 10,
      min: 9223372036854774000n,
      max: 9223372036854775807n,
      cycle: false,
    });
  });

  it('shows the usage of a sequence: next and share', async () => {
    const { ids } = await (
      await fetch(`${server.url}/v1/sequences/invoices%2F2026/next?count=200`, { method: 'POST' })
    ).json();
    expect([ids[0], ids[199]]).toEqual(['9223372036854774807', '9223372036854775006']);
    await visit
      .row('invoices/2026')
      .getByText(/^2\d\.\d %/)
      .waitFor();
    const cells = await cellsOf('invoices/2026');
    expect(BigInt(cells.Next!)).toBe((await store.describeSequence('invoices/2026')).next);
  });

  it('links to the page that mints its ids', async () => {
    await visit.page.getByRole('link', { name: 'Mint from invoices/2026' }).click();
    await visit.heading('Mint').waitFor();
    expect(await visit.page.getByRole('combobox', { name: 'Sequence' }).inputValue()).toBe('invoices/2026');
    await visit.go('sequences');
  });

  it('alters a sequence, and sends only the changes', async () => {
    await open('Alter invoices/2026', 'Alter invoices/2026');
    await visit.button('Alter').click();
    await visit.page.getByRole('dialog').getByText('Change at least one field.').waitFor();
    await visit.field('Block size').fill('25');
    const [request] = await Promise.all([
      visit.page.waitForRequest((each) => each.method() === 'PATCH'),
      visit.button('Alter').click(),
    ]);
    expect(request.postDataJSON()).toEqual({ blockSize: 25 });
    await visit.page.getByText('Sequence invoices/2026 is altered.').waitFor();
    expect((await store.describeSequence('invoices/2026')).blockSize).toBe(25);
    await visit.row('invoices/2026').getByText('25', { exact: true }).waitFor();
  });

  it('does not move a sequence back', async () => {
    await open('Alter invoices/2026', 'Alter invoices/2026');
    await visit.field('Next').fill('9223372036854774807');
    await visit.button('Alter').click();
    expect(await visit.errorOf('Next')).toMatch(/^Next must be 92233720368547\d+ or further on/);
    await visit.field('Next').fill('');
    await visit.button('Alter').click();
    await visit.page.getByText('Next cannot be empty.').waitFor();
    await visit.button('Cancel').click();
  });

  it('removes a sequence after its name has been typed', async () => {
    await open('Remove invoices/2026', 'Remove invoices/2026?');
    const confirm = 'Type invoices/2026 to confirm';
    await visit.field(confirm).fill('invoices');
    await visit.button('Remove').click();
    expect(await visit.errorOf(confirm)).toBe(
      'The name does not match. Type invoices/2026 to remove the sequence.',
    );
    expect(await store.listSequences()).toHaveLength(1);
    await visit.field(confirm).fill('invoices/2026');
    await visit.button('Remove').click();
    await visit.page.getByText('Sequence invoices/2026 is removed.').waitFor();
    expect(await store.listSequences()).toEqual([]);
    await visit.page.getByText('No sequence is defined').waitFor();
  });

  it('changes nothing after Escape and Cancel', async () => {
    await open('Define a sequence', 'Define a sequence');
    await visit.field('Name').fill('never');
    await visit.page.keyboard.press('Escape');
    await visit.page.getByRole('dialog').waitFor({ state: 'detached' });
    // The focus returns to the button that opened the dialog.
    expect(await visit.page.evaluate(() => document.activeElement?.textContent)).toBe('Define a sequence');
    await open('Define a sequence', 'Define a sequence');
    await visit.button('Cancel').click();
    await visit.page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await store.listSequences()).toEqual([]);
  });

  it.each([
    [{ Name: '' }, 'Name', /^Enter a name\.$/],
    [{ Name: ' x' }, 'Name', /^The name of a sequence must be text of 1 to 255 characters/],
    [{ Name: 'x'.repeat(256) }, 'Name', /^Name must have 1 to 255 characters, not 256\.$/],
    [{ Start: 'one' }, 'Start', /^Start must be a whole number\.$/],
    [{ Start: '9223372036854775808' }, 'Start', /^Start must be a bigint from −2\^63 to 2\^63 − 1/],
    [{ 'Block size': '0' }, 'Block size', /^BlockSize must be a whole number from 1 to 2147483647, not 0\.$/],
    [
      { 'Block size': '2147483648' },
      'Block size',
      /^BlockSize must be a whole number from 1 to 2147483647, not 2147483648\.$/,
    ],
    [{ Step: '0' }, 'Step', /^Step must be a whole number, not 0\.$/],
    [{ Step: '9007199254740993' }, 'Step', /^Step must be within/],
    [
      { 'Lowest id': '10', 'Highest id': '5' },
      'Lowest id',
      /^Min must be at most max, which is 5, not 10\.$/,
    ],
    [{ 'Highest id': '1.5' }, 'Highest id', /^Highest id must be a whole number\.$/],
    [
      { 'Highest id': '-4' },
      'Start',
      /^Start must be from -9223372036854775808 to -4, which are min and max/,
    ],
  ])('answers %j beside %s', async (values, label, message) => {
    await open('Define a sequence', 'Define a sequence');
    for (const [field, value] of Object.entries({ Name: 'orders', ...values }))
      await visit.field(field).fill(value);
    await visit.button('Define').click();
    expect(await visit.errorOf(label)).toMatch(message);
    expect(await store.listSequences()).toEqual([]);
    await visit.button('Cancel').click();
  });

  it('shows beside the name that it is taken', async () => {
    await store.defineSequence({ name: 'orders' });
    await open('Define a sequence', 'Define a sequence');
    await visit.field('Name').fill('orders');
    await visit.button('Define').click();
    expect(await visit.errorOf('Name')).toMatch(/orders/);
    await visit.button('Cancel').click();
  });
});
