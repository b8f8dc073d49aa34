import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { layouts } from 'idsmith';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { ServerProcess } from '#services/process.ts';
import { launch, startConsole, Visit } from '../support/console.ts';

const run = promisify(execFile);
const BIN = fileURLToPath(new URL('../../../idsmith/bin/idsmith.js', import.meta.url));

const SAMPLES = [
  '1703865194431643648',
  '10001',
  '20be0ffc-314a-bd53-7a50-013a65ca76d2',
  '019a8c1e-7b2a-7d3c-9f4e-5a6b7c8d9e0f',
  'c232ab00-9414-11ec-b3c8-9f6bdeced846',
  '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  'user_2x4y6z8a0b1c2d3e4f5g6h7j8k',
  'ord_0fmd13b3x7ktw6mj8150rkf0z3z',
  '0ujsswThIGTUYm2K8FjOOfXtY1K',
  '507f1f77bcf86cd799439011',
  '9m4e2mr0ui3e8a215n4g',
  '1jyVFw3401',
  'V1StGXR8_Z5jdHi6B-myT',
];

await describeWith(['chromium'], 'the page Inspect', () => {
  let server: ServerProcess;
  let browser: Browser;
  let visit: Visit;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startConsole(), launch()]);
    visit = await Visit.open(browser, server, 'inspect');
  });
  afterAll(async () => {
    await visit?.close();
    await browser?.close();
    await server?.stop();
  });

  /** Pastes an id as a user would, and waits for its readings. */
  async function paste(id: string, title: string): Promise<Record<string, string>> {
    const { page } = visit;
    await visit.field('Id').fill('');
    await page.evaluate((text) => navigator.clipboard.writeText(text), id);
    await visit.field('Id').focus();
    await page.keyboard.press('Control+V');
    const panel = page.getByRole('region', { name: title, exact: true });
    await panel.waitFor();
    await panel.getByRole('img').waitFor();
    const pairs = await panel
      .locator('dl > div')
      .evaluateAll((rows) =>
        rows.map((row) => [row.querySelector('dt')?.textContent, row.querySelector('dd')?.textContent]),
      );
    return {
      ...Object.fromEntries(pairs),
      utc: await panel.locator('time').innerText(),
      drawn: (await panel.getByRole('img').getAttribute('aria-label')) ?? '',
      cells: (await panel.locator('.id-diagram__digit').allTextContents()).join(''),
    };
  }

  it('starts with examples that can be clicked', async () => {
    await visit.page.getByRole('link', { name: /Sharded key/ }).click();
    await visit.page.getByRole('region', { name: 'Sharded key' }).waitFor();
    expect(await visit.field('Id').inputValue()).toBe('1jyVFw3401');
  });

  it('reads a locality UUID', async () => {
    expect(await paste('20be0ffc-314a-bd53-7a50-013a65ca76d2', 'Locality UUID')).toEqual({
      version: 'b',
      counter: '20be0ffc',
      'counter (sequential mode)': '549326844',
      'counter (variable mode)': '3488672514',
      'process id': '12618',
      'MAC fragment': '__:__:_d:53:7a:50',
      'Unix ms': '1350327498450',
      utc: '2012-10-15 18:58:18.450 UTC',
      drawn:
        'Locality UUID, from the highest bit to the lowest: counter 32 bits, process id 16 bits, version 4 bits, ' +
        'MAC fragment 28 bits, time 48 bits',
      cells: BigInt('0x20be0ffc314abd537a50013a65ca76d2').toString(2).padStart(128, '0'),
    });
  });

  it('reads a flake, in every way that fits', async () => {
    const id = layouts.jflake.encode({
      timestamp: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
      node: 301,
      sequence: 77,
    });
    const read = await paste(String(id), 'Flake, jflake');
    expect(read).toMatchObject({ node: '301', sequence: '77', utc: '2026-01-02 03:04:05.678 UTC' });
    expect(read.drawn).toContain('time 41 bits, node 9 bits, sequence 13 bits');
    expect(read.cells).toBe(id.toString(2).padStart(64, '0'));
    const titles = await visit.page.getByRole('region').getByRole('heading').allTextContents();
    expect(titles).toContain('Flake, snowflake');
    expect(await visit.page.getByText('most likely').count()).toBe(1);
  });

  it('shows the readings that the server and the command line show, in the same order', async () => {
    const { stdout } = await run(process.execPath, [BIN, 'inspect', ...SAMPLES, '--json']);
    for (const { id, others = [], ...best } of JSON.parse(stdout)) {
      const { readings } = await (await fetch(`${server.url}/v1/inspect/${id}`)).json();
      const flat = ({ fields, ...reading }: { fields: object }) => ({ ...reading, ...fields });
      expect([best, ...others]).toEqual(readings.map(flat));
      await visit.go(`inspect/${id}`);
      const reasons = () => visit.page.locator('section > p.muted:first-of-type').allTextContents();
      await expect
        .poll(async () => (await reasons()).map((reason) => reason.toLowerCase()))
        .toEqual(readings.map(({ reason }: { reason: string }) => `${reason}.`.toLowerCase()));
    }
  });

  it('reads a key', async () => {
    const read = await paste('1jyVFw3401', 'Sharded key');
    expect(read).toMatchObject({ variant: '190', type: '1', utc: '2012-01-19 19:11:27.784 UTC' });
    expect(read.cells).toBe('1jyVFw3401');
  });

  it('reads a sequence number, and names the sequence', async () => {
    await fetch(`${server.url}/v1/sequences`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"orders","start":"10000","blockSize":10}',
    });
    await fetch(`${server.url}/v1/sequences/orders/next?count=5`, { method: 'POST' });
    await visit.field('Id').fill('10001');
    const row = visit.row('orders');
    await row.waitFor();
    expect(await row.getByRole('cell').allTextContents()).toEqual([
      'yes, in a block',
      '2',
      expect.stringMatching(/^100\d0$/),
      '< 0.01 %',
    ]);
    await visit.field('Id').fill('99999');
    await visit.page.getByRole('cell', { name: 'not yet' }).waitFor();
  });

  it('shows beside the field that a text is not an id', async () => {
    await visit.field('Id').fill('hello world');
    await visit.button('Inspect').click();
    expect(await visit.errorOf('Id')).toBe('"hello world" is not an id of any family.');
    expect(await visit.page.getByRole('region').count()).toBe(0);
  });

  it('works with links and the Back button', async () => {
    await visit.go('inspect/1jyVFw3401');
    await visit.page.getByRole('region', { name: 'Sharded key' }).waitFor();
    await visit.page.getByRole('link', { name: 'Mint' }).click();
    await visit.heading('Mint').waitFor();
    await visit.page.goBack();
    await visit.page.getByRole('region', { name: 'Sharded key' }).waitFor();
    await visit.button('Copy the time').click();
    await visit.page.getByText('Copied the time.').waitFor();
    expect(await visit.clipboard()).toBe('2012-01-19T19:11:27.784Z');
  });
});
