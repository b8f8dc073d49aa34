import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { ServerProcess } from '#services/process.ts';
import { acquireLease, layouts } from '../../../idsmith/src/index.ts';
import { openStore } from '../../../idsmith/src/stores/open.ts';
import { launch, startConsole, Visit } from '../support/console.ts';
import { Holder } from '../support/lease-holder.ts';

await describeWith(['chromium'], 'the page Leases', () => {
  let server: ServerProcess;
  let browser: Browser;
  let visit: Visit;
  const holders: Holder[] = [];

  beforeAll(async () => {
    [server, browser] = await Promise.all([startConsole('--ttl', '5000'), launch()]);
    visit = await Visit.open(browser, server, 'leases');
  });
  afterAll(async () => {
    await Promise.all(holders.map((holder) => holder.end('SIGKILL')));
    await visit?.close();
    await browser?.close();
    await server?.stop();
  });

  /** Starts a process that takes a node id from the server's own file. */
  async function hold(label: string, ttl: number, ahead = 0): Promise<Holder> {
    const url = `sqlite:${server.dir}/ids.db`;
    const holder = await Holder.start({ url, namespace: 'workers', size: 32, ttl, label, ahead });
    holders.push(holder);
    return holder;
  }

  const cell = (text: string | RegExp) => visit.button(text);
  const legend = (text: RegExp) => visit.page.getByRole('listitem').filter({ hasText: text });

  it('starts with the namespace of the server and its holder', async () => {
    await cell(/^Node 0: held by .* \d+, \d s left$/).waitFor();
    expect(await visit.field('Namespace').inputValue()).toBe('jflake');
    await legend(/^511 free$/).waitFor();
    expect(await visit.page.locator('[data-node]').count()).toBe(512);
  });

  it('shows another namespace', async () => {
    await visit.field('Namespace').fill('workers');
    await visit.field('Node ids').fill('32');
    await visit.button('Show').click();
    await visit.page.getByText('No node id of this namespace was ever used').waitFor();
    await legend(/^32 free$/).waitFor();
    expect(await visit.page.locator('[data-node]').count()).toBe(32);
  });

  it('changes while processes take node ids, release them, die and run ahead', async () => {
    const [alpha, beta] = [await hold('alpha 1', 20_000), await hold('beta 2', 1500)];
    expect([alpha.node, beta.node]).toEqual([0, 1]);
    await cell(/^Node 0: held by alpha 1, \d+ s left$/).waitFor();
    await cell(/^Node 1: held by beta 2, [12] s left$/).waitFor();
    await legend(/^2 held$/).waitFor();

    // A killed process releases nothing, so its lease expires.
    await beta.end('SIGKILL');
    await cell('Node 1: expired').waitFor();
    await legend(/^1 held$/).waitFor();

    // A process that ends normally releases its node id at once.
    await alpha.end('SIGTERM');
    await cell('Node 0: free').waitFor();

    // The next process gets the lowest node id and mints 20 s ahead. The holder after it must wait for that long.
    const gamma = await hold('gamma 3', 30_000, 20_000);
    expect(gamma.node).toBe(0);
    await cell(/^Node 0: held by gamma 3/).waitFor();
    await gamma.end('SIGTERM');
    await cell(/^Node 0: fenced ahead for \d+ s$/).waitFor();
    await legend(/^1 fenced ahead$/).waitFor();
  }, 180_000);

  it('shows a timeline of the windows it has seen', async () => {
    const windows = visit.page.getByRole('region', { name: 'Windows' });
    await windows.getByRole('img', { name: /^Windows of 2 node ids/ }).waitFor();
    const titles = await windows.locator('title').allTextContents();
    expect(titles).toEqual(['alpha 1, term 1, released', 'gamma 3, term 2, released', 'beta 2, term 1']);
    // Windows of one node id never overlap.
    const [first, second] = await windows.locator('g:has(> title)').evaluateAll((bars) =>
      bars.slice(0, 2).map((bar) => {
        const { x, width } = (bar as SVGGElement).getBBox();
        return { from: x, to: x + width };
      }),
    );
    expect(first!.to).toBeLessThanOrEqual(second!.from + 0.5);
  });

  it('shows the details of the selected node id', async () => {
    await cell('Node 1: expired').click();
    const detail = visit.page.locator('.leases__detail');
    await detail.getByText('beta 2').waitFor();
    expect(await detail.textContent()).toMatch(/^Node 1 is expired\. .*holders so far1fence20\d\d-/);
    await visit.row('beta 2').getByText('expired').waitFor();
  });

  it('pages through a large namespace', async () => {
    await visit.field('Node ids').fill('1500');
    await visit.button('Show').click();
    await visit.page.getByText('0 – 511 of 1,500').waitFor();
    await visit.button('Higher').click();
    await visit.button('Higher').click();
    await cell('Node 1499: free').waitFor();
    expect(await visit.button('Higher').isDisabled()).toBe(true);
  });

  it('shows the range of node ids that a namespace has, and no others', async () => {
    const store = await openStore(`sqlite:${server.dir}/ids.db`);
    const terms = { namespace: 'region', layout: layouts.snowflake, nodes: [256, 511] as const };
    const lease = await acquireLease(store, { ...terms, label: 'delta 4' });
    await visit.go('leases/region');
    await visit.page.getByRole('heading', { name: 'Node ids of region: 256 – 511' }).waitFor();
    await cell(/^Node 256: held by delta 4/).waitFor();
    await cell('Node 511: free').waitFor();
    expect(await visit.page.locator('[data-node]').count()).toBe(256);
    await legend(/^255 free$/).waitFor();
    expect(await visit.field('Node ids').getAttribute('placeholder')).toBe('256');
    expect(await visit.page.locator('.leases__detail').textContent()).toMatch(/^Node 256 is held/);
    await lease.release();
    await store.close();
  });

  it.each([
    [{ Namespace: '' }, 'Namespace', 'Enter a namespace.'],
    [{ Namespace: 'n'.repeat(256) }, 'Namespace', 'Namespace must have 1 to 255 characters, not 256.'],
    [{ 'Node ids': 'many' }, 'Node ids', 'The number of node ids must be a whole number.'],
    [{ 'Node ids': '0' }, 'Node ids', 'The number of node ids must be from 1 to 2^32.'],
  ])('answers %j beside %s', async (values, label, message) => {
    await visit.go('leases/workers');
    for (const [field, value] of Object.entries(values)) await visit.field(field).fill(value);
    await visit.button('Show').click();
    expect(await visit.errorOf(label)).toBe(message);
  });
});
