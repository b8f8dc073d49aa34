import { InvalidOptionError, StoreError } from 'idsmith';
import { openStore } from 'idsmith/stores';
import { expect, it } from 'vitest';

it('openStore makes a pool for an oracle: URL, and connects at the first call', async () => {
  const store = await openStore('oracle://user:hunter2@127.0.0.1:1/service');
  const failure = await store.listLeases('x').catch((error) => error);
  expect(failure).toBeInstanceOf(StoreError);
  expect(failure.message).toMatch(/^oracle store: listing leases at 127\.0\.0\.1:1 failed: .*ECONNREFUSED/s);
  expect(failure.message).not.toContain('hunter2');
  await store.close();
});

it.each([
  'oracle:user:hunter2@host',
  'oracle://user:hunter2@host:x/service',
  'oracle://user:hunter2@host/service?poolMax=4',
])('openStore refuses %j without showing its password', async (url) => {
  const failure = await openStore(url).catch((error) => error);
  expect(failure).toBeInstanceOf(InvalidOptionError);
  expect(failure.message).not.toContain('hunter2');
});
