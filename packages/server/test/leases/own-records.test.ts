import { expect, it } from 'vitest';
import { TestServer } from '../support/server.ts';

it('lists the records of a namespace itself apart from its leases', async () => {
  const server = await TestServer.prepare();
  await server.post('/v1/flakes');
  const { leases, own } = (await server.get('/v1/leases/jflake')).json;
  expect(leases).toEqual([expect.objectContaining({ id: 0, epoch: 1 })]);
  expect(own).toEqual([expect.objectContaining({ id: -2, owner: null })]);
  await server.stop();
});
