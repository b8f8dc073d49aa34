import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { ServerProcess } from '#services/process.ts';
import { launch, startConsole, Visit } from '../support/console.ts';
import { HttpProxy } from '../support/http-proxy.ts';

/** The number of green pixels in a screenshot. Another page reads the picture. */
async function greenPixels(page: Page, reader: Page): Promise<number> {
  const picture = (await page.screenshot()).toString('base64');
  return reader.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')!;
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) {
      const [red, green, blue] = [data[i]!, data[i + 1]!, data[i + 2]!];
      if (green > red + 40 && green > blue + 20) count++;
    }
    return count;
  }, picture);
}

await describeWith(['chromium'], 'a server that is away', () => {
  let server: ServerProcess;
  let proxy: HttpProxy;
  let browser: Browser;
  let reader: Page;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startConsole(), launch()]);
    [proxy, reader] = [await HttpProxy.start(server.url), await browser.newPage()];
  });
  afterAll(async () => {
    await browser?.close();
    await proxy?.stop();
    await server?.stop();
  });

  const lease = (visit: Visit, text: string) =>
    visit.page.locator('dl > div', { hasText: 'Lease, flake' }).getByText(text, { exact: true });

  /** Opens the page with the charts, and waits for something green. */
  async function open(url: string): Promise<Visit> {
    const visit = await Visit.open(browser, { url }, 'health');
    await lease(visit, 'active').waitFor();
    await visit.page.getByText('Server: Ready').waitFor();
    await expect.poll(() => greenPixels(visit.page, reader)).toBeGreaterThan(20);
    return visit;
  }

  /** Everything that was green is so no more, and says why. */
  async function expectNoGreen(visit: Visit, status: string): Promise<void> {
    await visit.page.getByText(`Server: ${status}`).waitFor();
    await lease(visit, 'unknown').waitFor();
    await expect.poll(() => greenPixels(visit.page, reader)).toBe(0);
  }

  it('leaves nothing green when it was killed', async () => {
    const visit = await open(server.url);
    await server.kill();
    await expectNoGreen(visit, 'Unreachable');
    await server.start();
    await lease(visit, 'active').waitFor();
    await visit.page.getByText('Server: Ready').waitFor();
    await visit.close();
  });

  it('leaves nothing green when a proxy answers in its place', async () => {
    const visit = await open(proxy.url);
    await server.kill();
    await expectNoGreen(visit, 'Unreachable');
    await visit.page.getByText('The server is not responding.').waitFor();
    await server.start();
    await lease(visit, 'active').waitFor();
    await visit.close();
  });

  it('leaves nothing green when it hangs', async () => {
    const visit = await open(server.url);
    server.pause();
    await expectNoGreen(visit, 'No answer');
    server.resume();
    await lease(visit, 'active').waitFor();
    await visit.page.getByText('Server: Ready').waitFor();
    await visit.close();
  });
});
