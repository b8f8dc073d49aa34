import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { ServerProcess } from '#services/process.ts';
import { launch, startConsole, Visit } from '../support/console.ts';
import { HttpProxy } from '../support/http-proxy.ts';

await describeWith(['chromium'], 'the console behind a proxy with a Host of its own', () => {
  let server: ServerProcess;
  let other: ServerProcess | undefined;
  let proxy: HttpProxy;
  let browser: Browser;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startConsole(), launch()]);
    proxy = await HttpProxy.start(server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await proxy?.stop();
    await server?.stop();
    await other?.stop();
  });

  it('shows that --origin is missing, with its value', async () => {
    const visit = await Visit.open(browser, proxy, 'mint');
    await visit.button('Mint').click();
    const alert = visit.page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toBe(
      'Pages of other sites cannot change anything on this server; ' +
        `if ${proxy.url} is this server behind a proxy, start it with --origin ${proxy.url}`,
    );
    await visit.close();
  });

  it('writes with --origin', async () => {
    await proxy.stop();
    // The port of the proxy must be known before the server starts.
    const origin = proxy.url;
    other = await startConsole('--origin', origin);
    proxy = await HttpProxy.start(other.url, Number(new URL(origin).port));
    const visit = await Visit.open(browser, proxy, 'mint');
    await visit.button('Mint').click();
    await visit.heading('5 ids: Flake').waitFor();
    await visit.close();
  });
});
