import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Miniflare } from 'miniflare';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundled } from './worker.ts';

const folder = fileURLToPath(new URL('../../examples/cloudflare/', import.meta.url));
const config = JSON.parse(readFileSync(`${folder}wrangler.jsonc`, 'utf8'));

/** Two copies of the Worker, as the platform would start them in two places, with one object. */
let copies: Miniflare;
beforeAll(async () => {
  const contents = await bundled(readFileSync(folder + config.main, 'utf8'));
  const [{ name, class_name: className }] = config.durable_objects.bindings;
  expect(config.migrations[0].new_sqlite_classes).toContain(className);
  const common = {
    modules: [{ type: 'ESModule' as const, path: 'worker.mjs', contents }],
    compatibilityDate: config.compatibility_date,
  };
  copies = new Miniflare({
    workers: [
      { ...common, name: 'one', durableObjects: { [name]: { className, useSQLite: true } } },
      {
        ...common,
        name: 'two',
        durableObjects: { [name]: { className, useSQLite: true, scriptName: 'one' } },
      },
    ],
  });
  await copies.ready;
});
afterAll(() => copies?.dispose());

interface Fetching {
  fetch(url: string, init: { method: string; body?: string }): Promise<Response>;
}
interface Namespace {
  idFromName(name: string): object;
  get(id: object): Fetching;
}

async function post(copy: string, path: string): Promise<Record<string, string>> {
  const worker = (await copies.getWorker(copy)) as unknown as Fetching;
  const response = await worker.fetch(`http://worker${path}`, { method: 'POST' });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, string>;
}

it('mints order ids in two copies of the Worker, none of them twice', async () => {
  const requests = Array.from({ length: 100 }, (_, i) => post(i % 2 ? 'one' : 'two', '/orders'));
  const ids = (await Promise.all(requests)).map(({ id }) => id);
  expect(new Set(ids).size).toBe(100);
});

it('numbers invoices one after the other', async () => {
  const numbers: string[] = [];
  for (let i = 0; i < 6; i++) numbers.push((await post(i % 2 ? 'one' : 'two', '/invoices')).number!);
  const year = new Date().getUTCFullYear();
  expect(numbers).toEqual([1, 2, 3, 4, 5, 6].map((n) => `INV-${year}-00000${n}`));
});

it('numbers invoices of requests that come at once, none of them twice', async () => {
  const requests = Array.from({ length: 40 }, (_, i) => post(i % 2 ? 'one' : 'two', '/invoices'));
  expect(new Set((await Promise.all(requests)).map(({ number }) => number)).size).toBe(40);
});

it('lets nobody from outside run statements, even if a Worker passes requests on', async () => {
  const namespace = (await copies.getDurableObjectNamespace('IDS', 'one')) as unknown as Namespace;
  const stub = namespace.get(namespace.idFromName('ids'));
  const response = await stub.fetch('https://ids.example.workers.dev/', {
    method: 'POST',
    body: JSON.stringify({ sql: 'DROP TABLE idsmith_leases', values: [] }),
  });
  expect(response.status).toBe(404);
});
