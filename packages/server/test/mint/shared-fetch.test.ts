import { memoryStore } from 'idsmith';
import { expect, it } from 'vitest';
import { TestServer } from '../support/server.ts';

it('Requests for many ids of a sequence share the fetches of its blocks', async () => {
  const store = memoryStore();
  let release = () => {};
  const hold = new Promise<void>((resolve) => {
    release = resolve;
  });
  const allocate = store.allocate.bind(store);
  let fetches = 0;
  store.allocate = async (...args) => {
    fetches++;
    await hold;
    return allocate(...args);
  };
  const server = await TestServer.prepare({}, store);
  await server.post('/v1/sequences', { body: { name: 'x', blockSize: 20 } });
  const calls = Array.from({ length: 200 }, () => server.post('/v1/sequences/x/next?count=100'));
  // The store answers when all of them wait.
  await expect.poll(() => server.metric('idsmith_requests_in_flight')).toBe(200);
  release();
  const answers = await Promise.all(calls);
  const ids = answers.flatMap(({ json }) => json.ids as string[]).map(Number);
  expect(new Set(ids).size).toBe(20_000);
  expect(Math.max(...ids)).toBe(20_000);
  expect(fetches).toBeLessThanOrEqual(3);
  await server.stop();
});
