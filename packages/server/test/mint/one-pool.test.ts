import { layouts, memoryStore } from 'idsmith';
import { connect } from 'idsmith/connect';
import { expect, it } from 'vitest';
import { TestServer } from '../support/server.ts';

it('mints flakes, locality UUIDs and UUIDs of version 7 on other node ids than programs on its store, whatever their names', async () => {
  const store = memoryStore();
  const server = await TestServer.prepare({}, store);
  const ids = await connect(store);
  const mint = async (path: string) => (await server.post(path)).json.ids as string[];
  const orders = await ids.flakes('orders');
  const flakes = await mint('/v1/flakes?count=100');
  const nodes = new Set(flakes.map((id) => layouts.jflake.decode(id).node));
  expect([...nodes]).not.toContain(orders.lease?.id);
  await mint('/v1/locality?count=1');
  await mint('/v1/uuid7?count=1');
  await ids.locality('events');
  await ids.uuid7('events');
  for (const namespace of ['jflake', 'locality', 'uuid7']) {
    const held = (await store.listLeases(namespace)).filter(({ id, owner }) => id >= 0 && owner !== null);
    expect(held.length, namespace).toBe(2);
  }
  await ids.close();
  await server.stop();
});
