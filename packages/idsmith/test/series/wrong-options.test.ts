import { ClosedError, InvalidOptionError, memoryStore } from 'idsmith';
import { series } from 'idsmith/sql';
import { expect, it } from 'vitest';
import { openStore } from '../../src/stores/open.ts';

it.each([[5], [{}], [null]])('A series in a store that is %j is refused', (store) => {
  expect(() => series('invoices', { format: '{n:4}', store: store as never })).toThrow(InvalidOptionError);
  expect(() => series('invoices', { format: '{n:4}', store: store as never })).toThrow(
    /^store must be a store/,
  );
});

it('A number in a transaction takes no signal: the transaction ends it', async () => {
  const invoices = series('invoices', { format: '{n:4}' });
  const { signal } = new AbortController();
  await expect(invoices.next({ in: {}, signal } as never)).rejects.toThrow(
    /^signal and in: end the transaction/,
  );
});

it('A number of one tenant is not void for another', async () => {
  const store = await openStore('sqlite::memory:');
  const invoices = series('invoices', { format: '{tenant}-{n:4}', audit: true, store });
  const text = await invoices.next({ tenant: 'acme' });
  const error = await invoices.void(text, 'cancelled', { tenant: 'other' }).catch((error) => error);
  expect(error).toBeInstanceOf(InvalidOptionError);
  expect(error.message).toMatch(/^tenant must be left out, or "acme" as in "acme-0001", not "other"/);
  await store.close();
});

it('A series ends with its block', async () => {
  const invoices = series('invoices', { format: '{n:4}', store: memoryStore() });
  expect(await invoices.next()).toBe('0001');
  await invoices[Symbol.asyncDispose]();
  await expect(invoices.next()).rejects.toThrow(ClosedError);
});
