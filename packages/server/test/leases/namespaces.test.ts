import { acquireLease, defineLayout, layouts, memoryStore } from 'idsmith';
import { httpStore } from 'idsmith/stores/http';
import { expect, it } from 'vitest';
import { TestServer } from '../support/server.ts';

it('lists the namespaces of the store with their real sizes and the node ids held', async () => {
  const store = memoryStore();
  const odd = defineLayout({ epoch: 0, timeBits: 42, nodeBits: 12, sequenceBits: 9 });
  await acquireLease(store, { namespace: 'shop', layout: layouts.snowflake });
  await acquireLease(store, { namespace: 'shop', layout: layouts.snowflake });
  await (await acquireLease(store, { namespace: 'billing', layout: odd })).release();
  await acquireLease(store, { namespace: 'plain', size: 16 });
  await acquireLease(store, { namespace: 'region', layout: layouts.snowflake, nodes: [256, 511] });
  const server = await TestServer.start({}, store);
  const { namespaces } = (await server.get('/v1/leases')).json;
  expect(namespaces).toEqual([
    { namespace: 'billing', layout: odd.fingerprint, size: 4096, held: 0, expired: 0, used: 1 },
    { namespace: 'jflake', layout: 'jflake', size: 512, held: 1, expired: 0, used: 1 },
    { namespace: 'locality', layout: null, size: 65_536, held: 1, expired: 0, used: 1 },
    { namespace: 'plain', layout: null, size: null, held: 1, expired: 0, used: 1 },
    { namespace: 'region', layout: 'snowflake', size: 256, held: 1, expired: 0, used: 1 },
    { namespace: 'shop', layout: 'snowflake', size: 1024, held: 2, expired: 0, used: 2 },
  ]);
  expect((await server.get('/v1/leases/shop')).json).toMatchObject({
    layout: 'snowflake',
    size: 1024,
    nodes: null,
  });
  const remote = httpStore(server.url);
  expect(await remote.namespaces?.()).toEqual(['billing', 'jflake', 'locality', 'plain', 'region', 'shop']);
  expect((await server.get('/v1/leases/region')).json).toMatchObject({
    layout: 'snowflake',
    size: 512,
    nodes: [256, 511],
  });
  await server.stop();
});

it('says that a store cannot list its namespaces', async () => {
  const { namespaces: _, ...store } = memoryStore();
  const server = await TestServer.prepare({}, store);
  expect(await server.get('/v1/leases')).toMatchObject({
    status: 501,
    json: { code: 'NOT_CONFIGURED', detail: 'the store of this server cannot list its namespaces' },
  });
  await server.stop();
});
