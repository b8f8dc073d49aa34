import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { shared } from '#services';
import type { ServerProcess } from '#services/process.ts';
import { startIdsmith } from '../../../server/test/support/process.ts';

/** The built console. */
export const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));

/** Starts `idsmith serve` with the console, on a free port, with a SQLite file in its own folder. */
export function startConsole(...flags: string[]): Promise<ServerProcess> {
  if (!existsSync(`${DIST}/index.html`)) throw new Error('packages/console is not built: npm run build');
  return startIdsmith('--assets', DIST, '--log', 'error', ...flags);
}

/** Connects to the browser of the run. Closing it closes the windows of this file. */
export async function launch(): Promise<Browser> {
  const { url } = await shared('chromium');
  return chromium.connect(url);
}

declare global {
  interface Window {
    lastCopy?: string;
  }
}

/** Remembers what a page copies: windows of several files share the clipboard of the browser. */
function rememberCopies(): void {
  const { clipboard } = navigator;
  const write = clipboard?.writeText.bind(clipboard);
  if (write !== undefined)
    clipboard.writeText = (text) => {
      window.lastCopy = text;
      return write(text);
    };
}

/** A page in a browser, with the errors that the browser reported. */
export class Visit {
  readonly page: Page;
  readonly url: string;
  /** Errors of the page. */
  readonly errors: string[] = [];
  /** Requests that failed or were refused, which the browser reports by itself. */
  readonly refusals: string[] = [];
  /** The URL of every request. */
  readonly requests: string[] = [];

  private constructor(page: Page, url: string) {
    this.page = page;
    this.url = url;
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('request', (request) => this.requests.push(request.url()));
    page.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return;
      const isRefusal = message.text().startsWith('Failed to load resource');
      (isRefusal ? this.refusals : this.errors).push(`${message.text()} ${message.location().url}`);
    });
  }

  /** Opens a page of the console in a window of its own. */
  static async open(
    browser: Browser,
    { url }: { readonly url: string },
    path = '',
    options: BrowserContextOptions = {},
  ): Promise<Visit> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url });
    await context.addInitScript(rememberCopies);
    const page = await context.newPage();
    // Far more than a page needs on an idle machine: a starved one must not fail a test.
    page.setDefaultTimeout(40_000);
    const visit = new Visit(page, url);
    await visit.go(path);
    return visit;
  }

  async go(path: string): Promise<void> {
    await this.page.goto(`${this.url}/#/${path}`);
  }

  button = (name: string | RegExp) =>
    this.page.getByRole('button', { name, exact: typeof name === 'string' });
  field = (label: string) => this.page.getByLabel(label, { exact: true });
  heading = (name: string) => this.page.getByRole('heading', { name });
  row = (name: string) => this.page.getByRole('row').filter({ hasText: name });

  /** The note of a field: its hint or its error. */
  async noteOf(label: string): Promise<string> {
    const field = this.field(label);
    const id = await field.getAttribute('aria-describedby');
    return (await this.page.locator(`[id="${id}"]`).textContent()) ?? '';
  }

  /** Waits until a field has an error, and returns the error. */
  async errorOf(label: string): Promise<string> {
    await this.page.locator('[aria-invalid="true"]').first().waitFor();
    expect(await this.field(label).getAttribute('aria-invalid')).toBe('true');
    return this.noteOf(label);
  }

  /** Types a text into a field within one turn of the page, as somebody who types faster than any pause. */
  async typeAtOnce(field: Locator, text: string): Promise<void> {
    await field.evaluate((element, all) => {
      const input = element as HTMLInputElement;
      for (let length = 1; length <= all.length; length++) {
        input.value = all.slice(0, length);
        input.dispatchEvent(new Event('input', { bubbles: true }));
      }
    }, text);
  }

  /** Tables that are wider than their frames, which cut them off. */
  cutTables = () =>
    this.page
      .locator('.table-frame')
      .evaluateAll((frames) =>
        frames
          .filter((frame) => frame.scrollWidth > frame.clientWidth)
          .map((frame) => `${frame.scrollWidth} in ${frame.clientWidth}: ${frame.textContent?.slice(0, 80)}`),
      );

  /** What the page has copied last. */
  clipboard = async () => (await this.page.evaluate(() => window.lastCopy)) ?? '';

  /** Closes the page, which must have no errors and no requests to other hosts. */
  async close(): Promise<void> {
    await this.page.context().close();
    expect(this.errors).toEqual([]);
    expect(this.requests.filter((request) => !request.startsWith(`${this.url}/`))).toEqual([]);
  }
}
