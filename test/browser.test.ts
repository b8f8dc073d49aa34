import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, shared } from './services/index.ts';

const entry = fileURLToPath(new URL('../packages/idsmith/dist/index.js', import.meta.url));

/** The built core, bundled as a web page's or an edge worker's build would do it. */
async function bundle(conditions: string[]) {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    // Neutral: an import of a Node built-in is an error, not something to be filled in.
    platform: 'neutral',
    conditions,
    write: false,
    metafile: true,
  });
  return { code: outputFiles[0]?.text as string, inputs: Object.keys(metafile.inputs) };
}

describe('the core in a bundle', () => {
  it.each([['browser'], ['worker'], ['workerd'], ['edge-light'], []])(
    'for %j has no Node built-in',
    async (...conditions) => {
      const { code, inputs } = await bundle(conditions.filter(Boolean));
      expect(inputs.some((input) => input.endsWith('runtime/web.js'))).toBe(true);
      expect(inputs.some((input) => input.endsWith('runtime/node.js'))).toBe(false);
      expect(code).not.toMatch(/['"]node:|\brequire\(|\bprocess\.|\bBuffer\b/);
    },
  );
});

const PAGE = `<!doctype html><title>idsmith</title>
  <script type="module">
    import * as idsmith from '/idsmith.js';
    globalThis.idsmith = idsmith;
  </script>`;

/** What the page has put there; the functions below run in the page. */
declare const idsmith: typeof import('idsmith');

const WORKER = `
  import { LocalityGenerator } from '/idsmith.js';
  onmessage = ({ data }) => postMessage(LocalityGenerator.attach(data).batch(20000));
`;

await describeWith(['chromium'], 'the core in a browser', () => {
  let server: Server;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    const { code } = await bundle(['browser']);
    const files: Record<string, [type: string, body: string]> = {
      '/': ['text/html', PAGE],
      '/idsmith.js': ['text/javascript', code],
      '/worker.js': ['text/javascript', WORKER],
    };
    server = createServer(({ url = '/' }, response) => {
      const [type, body] = files[url] ?? ['text/plain', ''];
      // Cross-origin isolation is what gives a page SharedArrayBuffer.
      response.writeHead(200, {
        'content-type': type,
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-embedder-policy': 'require-corp',
      });
      response.end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    browser = await chromium.connect((await shared('chromium')).url);
    page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.waitForFunction('globalThis.idsmith');
  });

  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  it('mints unique ids of version b, from a random node', async () => {
    const result = await page.evaluate(() => {
      const generator = new idsmith.LocalityGenerator();
      const ids = generator.batch(50_000);
      for (let i = 0; i < 50_000; i++) ids.push(generator.next());
      const other = new idsmith.LocalityGenerator({ mode: 'sequential' });
      const another = new idsmith.LocalityGenerator({ mode: 'sequential' });
      ids.push(...other.batch(1000), ...another.batch(1000));
      const apart = new idsmith.LocalityGenerator({ node: 'random' });
      return {
        unique: new Set(ids).size,
        version: new idsmith.LocalityUuid().version,
        age: Date.now() - Number(idsmith.LocalityUuid.parse(ids[0] as string).timestamp),
        source: generator.node.source,
        sameNode: ids[0]?.slice(9, 23) === other.next().slice(9, 23),
        sameWhenRandom: ids[0]?.slice(9, 23) === apart.next().slice(9, 23),
      };
    });
    // All default generators of a page share one random node, and are kept apart by their milliseconds.
    const node = { source: 'random', sameNode: true, sameWhenRandom: false };
    expect(result).toMatchObject({ unique: 102_000, version: 'b', ...node });
    expect(Math.abs(result.age)).toBeLessThan(60_000);
  });

  it('finds the same sequential seed as every other runtime', async () => {
    const first = await page.evaluate(() => {
      const clock = { now: () => Date.UTC(2012, 9, 15, 18, 58) };
      return new idsmith.LocalityGenerator({ mode: 'sequential', clock }).next().slice(0, 8);
    });
    expect(first).toBe('01b85440');
  });

  it('shares a counter with web workers', async () => {
    const unique = await page.evaluate(async () => {
      const generator = new idsmith.LocalityGenerator();
      const inWorker = () =>
        new Promise<string[]>((resolve) => {
          const worker = new Worker('/worker.js', { type: 'module' });
          worker.onmessage = ({ data }) => resolve(data);
          worker.postMessage(generator.share());
        });
      const parts = await Promise.all([inWorker(), inWorker(), inWorker(), generator.batch(20_000)]);
      return new Set(parts.flat()).size;
    });
    expect(unique).toBe(80_000);
  });
});
