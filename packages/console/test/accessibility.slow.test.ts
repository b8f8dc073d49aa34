import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith } from '#services';
import { makeFolder, removeFolder } from '#services/guard.ts';
import type { ServerProcess } from '#services/process.ts';
import { findings } from './support/axe.ts';
import { launch, startConsole, Visit } from './support/console.ts';
import { PAGES } from './support/pages.ts';
import { writePublicKeys } from './support/public-keys.ts';

const OUTPUT = fileURLToPath(new URL('./output/', import.meta.url));

/** The elements beyond an edge of the window. Runs in the page. */
function outOfSight(): string[] {
  const isOut = (element: Element) => {
    const { left, right, width } = element.getBoundingClientRect();
    const isHidden = element.closest('.visually-hidden, thead, datalist') !== null;
    return width > 0 && !isHidden && (left < -1 || right > innerWidth + 1);
  };
  const all = [...document.querySelectorAll('#app *')];
  return all.filter(isOut).map((element) => element.outerHTML.slice(0, 100));
}

await describeWith(['chromium'], 'the console', () => {
  const folder = makeFolder('accessibility');
  let server: ServerProcess;
  let browser: Browser;

  beforeAll(async () => {
    mkdirSync(OUTPUT, { recursive: true });
    [server, browser] = await Promise.all([startConsole('--public-ids', writePublicKeys(folder)), launch()]);
    await PAGES.prepare(server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await removeFolder(folder);
  });

  describe.each([
    ['light', 1600],
    ['dark', 360],
  ] as const)('in %s colours, %i pixels wide', (colorScheme, width) => {
    let visit: Visit;
    beforeAll(async () => {
      visit = await Visit.open(browser, server, '', { colorScheme, viewport: { width, height: 800 } });
    });
    afterAll(() => visit?.close());

    it.each(PAGES.all)('shows all of $name, with no serious finding', async ({ name, open }) => {
      await open(visit);
      expect(await visit.page.evaluate(outOfSight)).toEqual([]);
      expect(await findings(visit)).toEqual([]);
      await visit.page.screenshot({ path: join(OUTPUT, `${name}-${colorScheme}.png`), fullPage: true });
    });
  });

  it('shows everything in windows of medium size', async () => {
    const visit = await Visit.open(browser, server);
    for (const { name, open } of PAGES.main) {
      await open(visit);
      for (const width of [1024, 768]) {
        await visit.page.setViewportSize({ width, height: 800 });
        // Charts follow the window a moment later.
        await expect
          .poll(async () => [
            name,
            width,
            ...(await visit.page.evaluate(outOfSight)),
            ...(await visit.cutTables()),
          ])
          .toEqual([name, width]);
      }
    }
    await visit.close();
  });

  it('switches its theme, and remembers the choice', async () => {
    const visit = await Visit.open(browser, server, 'health', { colorScheme: 'light' });
    const ground = () =>
      visit.page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await ground();
    await visit.button('Theme: system. Switch to light').click();
    expect(await ground()).toBe(light);
    await visit.button('Theme: light. Switch to dark').click();
    const dark = await ground();
    expect(dark).not.toBe(light);
    await visit.page.reload();
    await visit.button('Theme: dark. Switch to system').waitFor();
    expect(await ground()).toBe(dark);
    await visit.close();
  });

  it('can be used with the keyboard alone', async () => {
    const visit = await Visit.open(browser, server, 'inspect');
    const { keyboard } = visit.page;
    await visit.heading('Inspect').waitFor();
    const press = async (...keys: string[]) => {
      for (const key of keys) await keyboard.press(key);
    };
    const focused = () =>
      visit.page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        const label =
          element.getAttribute('aria-label') ?? (element as HTMLInputElement).labels?.[0]?.textContent;
        return label ?? element.textContent ?? '';
      });
    /** Presses Tab until the wanted element has the focus, which must be visible. */
    const tabTo = async (label: string) => {
      for (let i = 0; i < 60; i++) {
        await press('Tab');
        if ((await focused()).trim() !== label) continue;
        const outline = await visit.page.evaluate(() => {
          const element = document.activeElement as HTMLElement;
          const ringed = element.matches('input[type="radio"]') ? element.closest('label') : element;
          return getComputedStyle(ringed as HTMLElement).outlineStyle;
        });
        expect(outline).toBe('solid');
        return;
      }
      throw new Error(`the Tab key does not reach ${label}`);
    };

    // Past the navigation, to the id, and its readings.
    await press('Tab');
    expect(await focused()).toBe('Skip to content');
    await press('Enter');
    await tabTo('Id');
    await keyboard.type('1jyVFw3401');
    await press('Enter');
    await visit.heading('Sharded key').waitFor();

    // To Sequences, whose heading then has the focus.
    await visit.page.reload();
    await tabTo('Sequences');
    await press('Enter');
    await visit.page.waitForFunction(() => document.activeElement?.textContent === 'Sequences');
    await tabTo('Define a sequence');
    await press('Enter');
    await visit.page.getByRole('dialog').waitFor();
    await tabTo('Name');
    await keyboard.type('by-hand');
    await tabTo('Define');
    await press('Enter');
    await visit.page.getByText('Sequence by-hand is defined.').waitFor();
    await tabTo('Remove by-hand');
    await press('Enter');
    await visit.page.getByRole('dialog').waitFor();
    await keyboard.type('by-hand');
    await press('Enter');
    await visit.page.getByText('Sequence by-hand is removed.').waitFor();

    // The arrow keys choose a family.
    await visit.go('mint');
    await tabTo('Flake');
    await press('ArrowRight');
    expect((await focused()).trim()).toBe('Locality UUID');
    await tabTo('Mint');
    await press('Enter');
    await visit.heading('5 ids: Locality UUID').waitFor();

    // The grid is one stop of the Tab key. The arrow keys move inside it.
    await visit.go('leases');
    await visit.button(/^Node 0: held/).waitFor();
    await tabTo('Show');
    await press('Tab', 'ArrowRight', 'ArrowDown');
    const node = Number(/^Node (\d+)/.exec(await focused())?.[1]);
    expect(node).toBeGreaterThan(10);
    await visit.page.getByText(`Node ${node} is free`).waitFor();
    await press('End');
    expect(await focused()).toBe('Node 511: free');
    await press('Tab');
    expect(await visit.page.evaluate(() => document.activeElement?.matches('[data-node]'))).toBe(false);
    await visit.close();
  });
});
