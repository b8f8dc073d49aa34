import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { ServerProcess } from '#services/process.ts';
import { launch, startConsole, Visit } from '../support/console.ts';

// The questions of somebody on call: what is refused, what runs out, who changed what, where is that sequence?

await describeWith(['chromium'], 'the console of an operator', () => {
  let server: ServerProcess;
  let browser: Browser;
  let visit: Visit;
  const send = (method: string, path: string, body?: object) =>
    fetch(server.url + path, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });

  beforeAll(async () => {
    [server, browser] = await Promise.all([startConsole(), launch()]);
    await send('POST', '/v1/sequences', { name: 'int32-orders', blockSize: 500, max: '1148' });
    await send('POST', '/v1/sequences', { name: '注文/2026', blockSize: 10 });
    await send('POST', '/v1/sequences/int32-orders/next?count=1000');
    for (let i = 0; i < 3; i++) await send('POST', '/v1/sequences/int32-orders/next');
    visit = await Visit.open(browser, server);
  });
  afterAll(async () => {
    await visit?.close();
    await browser?.close();
    await server?.stop();
  });

  it('begins with an overview that names the dead sequence and the way out', async () => {
    await visit.heading('Overview').waitFor();
    const warning = visit.page.getByRole('list', { name: 'Warnings' }).getByRole('listitem');
    await warning.getByText(/int32-orders is exhausted .*148 ids are left, and a block needs 500/).waitFor();
    await warning.getByText('Lower its block size').waitFor();
    await visit.row('SEQUENCE_EXHAUSTED').getByText('3', { exact: true }).waitFor();
    await visit.row('jflake').getByText('1 of 512').waitFor();
  });

  it('has a page for each sequence, where an alteration is shown before it is made', async () => {
    await visit.page.getByRole('link', { name: 'Look' }).first().click();
    await visit.heading('int32-orders').waitFor();
    await visit.page
      .locator('.stat')
      .filter({ hasText: 'Refused here' })
      .getByText('3', { exact: true })
      .waitFor();
    await visit.button('Alter or advance').click();
    await visit.field('Block size').fill('10');
    await visit.page.getByRole('dialog').getByText('Block size: 500 → 10').waitFor();
    await visit.button('Alter').click();
    await visit.page.locator('.stat').filter({ hasText: 'State' }).getByText('open').waitFor();
    expect(await visit.page.locator('pre').textContent()).toContain(
      '/v1/sequences/int32-orders/next?count=10',
    );
  });

  it('tells on the page Audit who changed what', async () => {
    await visit.go('audit');
    await visit.row('alter').getByText('blockSize 500 → 10').waitFor();
  });

  it('tells on the page Inspect which process made a flake', async () => {
    const { ids } = (await (await send('POST', '/v1/flakes')).json()) as { ids: string[] };
    await visit.go(`inspect/${ids[0]}`);
    await visit.page
      .getByText(/^Made by .*which holds node 0 \(first seen .*in the namespace jflake/)
      .waitFor();
  });

  it('mints numbers of a series, lists its tenants and periods, and reads its texts', async () => {
    await visit.go('mint');
    await visit.page.getByText('Series', { exact: true }).click();
    await visit.button('Mint').click();
    await visit.page.getByText('Enter the name of a series.').waitFor();
    await visit.page.getByRole('combobox', { name: 'Series' }).fill('invoices');
    await visit.field('Format').fill('INV-{yyyy}-{tenant}-{n:6}');
    await visit.field('Period').selectOption('year');
    await visit.field('Tenant').fill('ACME');
    await visit.field('Count').fill('2');
    await visit.button('Mint').click();
    await visit.heading('2 ids: Series').waitFor();
    await visit.page.getByRole('link', { name: /^INV-\d{4}-ACME-000002$/ }).click();
    await visit.heading('Number of a series').waitFor();
    await visit.page.getByText('ACME', { exact: true }).waitFor();
    await visit.go('sequences');
    await visit.page
      .getByRole('region', { name: 'Series' })
      .getByRole('row', { name: /invoices ACME \d{4}/ })
      .waitFor();
  });

  it('finds pages, sequences, namespaces and ids by the keyboard', async () => {
    const { keyboard } = visit.page;
    await keyboard.press('Control+k');
    const box = visit.page.getByRole('combobox', { name: /A page, a sequence/ });
    await box.fill('注文');
    await visit.page.getByRole('option', { name: /注文\/2026/ }).waitFor();
    await keyboard.press('Enter');
    await visit.heading('注文/2026').waitFor();
    await keyboard.press('Control+k');
    await box.fill('locality');
    await visit.page.getByRole('option', { name: /locality namespace/ }).waitFor();
    await keyboard.press('Enter');
    await visit.page.getByRole('heading', { name: 'Node ids of locality' }).waitFor();
    await keyboard.press('Control+k');
    await box.fill('1703865194431643648');
    await visit.page.getByRole('option', { name: /inspect this id/ }).waitFor();
    await keyboard.press('Enter');
    await visit.heading('Inspect').waitFor();
    expect(visit.page.url()).toContain('#/inspect/1703865194431643648');
    await keyboard.press('Control+k');
    await box.fill('zzz');
    await visit.page.getByText('No page, sequence or namespace has this in its name').waitFor();
    await keyboard.press('Escape');
  });

  it('lists the namespaces of the store with their real sizes', async () => {
    await visit.go('leases');
    await visit.row('jflake').getByText('1 of 512').waitFor();
    await visit.row('locality').getByText('1 of 65,536').waitFor();
    await visit.page.getByRole('heading', { name: 'Who held which node id' }).waitFor();
  });
});
