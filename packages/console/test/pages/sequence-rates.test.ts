import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { ServerProcess } from '#services/process.ts';
import { launch, startConsole, Visit } from '../support/console.ts';

/** The pause between two requests of the page, ms. The test moves the clock of the page on by it. */
const INTERVAL = 2000;

await describeWith(['chromium'], 'the rates of the page Sequences', () => {
  let server: ServerProcess;
  let browser: Browser;
  let visit: Visit;
  let changes = 0;

  const post = (path: string, body?: object) =>
    fetch(`${server.url}/v1/sequences${path}`, {
      method: 'POST',
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });

  beforeAll(async () => {
    [server, browser] = await Promise.all([startConsole(), launch()]);
    await post('', { name: 'busy', blockSize: 1_000_000, max: '10000000' });
    await post('', { name: 'quiet' });
    // The server now has a block that lasts for the whole test.
    await post('/busy/next');
    visit = await Visit.open(browser, server, 'mint');
    await visit.page.clock.install();
    await visit.go('sequences');
    await visit.row('busy').waitFor();
  });
  afterAll(async () => {
    await visit?.close();
    await browser?.close();
    await server?.stop();
  });

  const cell = (name: string, label: string) => visit.row(name).locator(`td[data-label="${label}"]`);

  /** Draws 50 ids and lets the page load the list, `times` times. */
  async function drawAndPoll(times: number): Promise<void> {
    for (let i = 0; i < times; i++) {
      await post('/busy/next?count=50');
      // The readers of a server share a list for a second, which this test has not: a change makes the next one fresh.
      await post('', { name: `change ${changes++}` });
      const loaded = visit.page.waitForResponse((each) => new URL(each.url()).pathname === '/v1/sequences');
      await visit.page.clock.fastForward(INTERVAL);
      await (await loaded).finished();
    }
  }

  it('are measured first', async () => {
    expect(await cell('busy', 'Ids/s').textContent()).toBe('measuring');
    expect(await cell('busy', 'Runs out').textContent()).toBe('measuring');
    await drawAndPoll(1);
    expect(await cell('busy', 'Ids/s').textContent()).toBe('measuring');
  });

  it('count the ids that are handed out, while the row of the sequence stands still', async () => {
    const next = await cell('busy', 'Next').textContent();
    await drawAndPoll(4);
    await cell('busy', 'Ids/s')
      .getByText(/^[12]\d(\.\d)?$/)
      .waitFor();
    expect(await cell('busy', 'Next').textContent()).toBe(next);
    // A few seconds are too little for a forecast.
    expect(await cell('busy', 'Runs out').textContent()).toBe('measuring');
    expect(await cell('quiet', 'Runs out').textContent()).toBe('measuring');
  });

  it('give a forecast after half a minute', async () => {
    await drawAndPoll(13);
    await cell('busy', 'Runs out')
      .getByText(/^20\d\d-\d\d-\d\d$/)
      .waitFor();
    expect(await cell('busy', 'Runs out').textContent()).toMatch(/ in \d days$/);
    expect(await cell('quiet', 'Ids/s').textContent()).toBe('0');
    expect(await cell('quiet', 'Runs out').textContent()).toMatch(/^idle for (\d\d seconds|1 minute)$/);
  });
});
