import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ask, startWorker } from './worker.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/tutorials/worker.md', import.meta.url)), 'utf8');
const blockOf = (kind: string) => new RegExp(`^\`\`\`${kind}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page)![1]!;

it('docs/tutorials/worker.md has a Worker that mints ids and numbers invoices', async () => {
  const config = JSON.parse(blockOf('json'));
  const [{ name, class_name: className }] = config.durable_objects.bindings;
  expect(config.migrations[0].new_sqlite_classes).toContain(className);
  const worker = await startWorker(blockOf('js'), {
    compatibilityDate: config.compatibility_date,
    durableObjects: { [name]: { className, useSQLite: true } },
  });
  try {
    const get = (path: string) => ask<{ id: string; number: string }>(worker, path);
    const ids = await Promise.all(Array.from({ length: 20 }, () => get('/orders')));
    expect(new Set(ids.map(({ id }) => id)).size).toBe(20);
    expect((await get('/events')).id).toMatch(/^[\da-f-]{36}$/);
    const year = new Date().getUTCFullYear();
    expect((await get('/invoices')).number).toBe(`INV-${year}-000001`);
    expect((await get('/invoices')).number).toBe(`INV-${year}-000002`);
  } finally {
    await worker.dispose();
  }
});
