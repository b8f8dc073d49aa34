import { Sequences, StoreError } from 'idsmith';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type ServerProcess, startPostgres } from '#services';
import { openStore } from '../../src/stores/open.ts';

await describeWith(['postgres'], 'a sequence whose database goes away', () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  it('hands out what is at hand, then fails, and goes on by itself when the database is back', async () => {
    const store = await openStore(server.url);
    const sequences = new Sequences(store);
    await sequences.define('orders', { blockSize: 10 });
    const orders = await sequences.get('orders', { prefetch: 2 });
    const ids = [await orders.next()];
    await server.kill();
    for (let id = orders.take(); id !== undefined; id = orders.take()) {
      ids.push(id);
      // Between two ids a fetch ahead may fail, which concerns nobody.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(ids).toEqual(Array.from({ length: 30 }, (_, i) => BigInt(i + 1)));
    await expect(orders.next()).rejects.toThrow(StoreError);
    await server.start();
    ids.push(...(await orders.batch(25)));
    expect(new Set(ids).size).toBe(55);
    await orders.close();
    await store.close();
  });
});
