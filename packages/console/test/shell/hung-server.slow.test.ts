import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, it } from 'vitest';
import { describeWith } from '#services';
import type { ServerProcess } from '#services/process.ts';
import { launch, startConsole, Visit } from '../support/console.ts';

await describeWith(['chromium'], 'the console of a server that hangs', () => {
  let server: ServerProcess;
  let browser: Browser;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startConsole(), launch()]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  it('says for how long, and that nobody knows who holds the leases', { timeout: 90_000 }, async () => {
    const visit = await Visit.open(browser, server, 'leases/jflake');
    await visit.page.getByText(/Node 0 is held/).waitFor();
    process.kill(server.pid as number, 'SIGSTOP');
    try {
      await visit.page.getByText(/The server has not answered for \d+ seconds/).waitFor();
      await visit.page.getByText(/These leases are \d+ seconds old/).waitFor();
      await visit.page.getByText('The state of node 0 is unknown').waitFor();
    } finally {
      process.kill(server.pid as number, 'SIGCONT');
    }
    await visit.page.getByText(/Node 0 is (held|expired|free)/).waitFor();
    await visit.page.context().close();
  });
});
