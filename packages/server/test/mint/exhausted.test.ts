import { memoryStore } from 'idsmith';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestServer } from '../support/server.ts';

// 148 ids are left and a block needs 500: every instrument says that the sequence is at its end.

let server: TestServer;
beforeAll(async () => {
  const store = memoryStore();
  await store.defineSequence({ name: 'int32-orders', blockSize: 500, max: 1148 });
  server = await TestServer.prepare({}, store);
  await server.post('/v1/sequences/int32-orders/next?count=1000');
});
afterAll(() => server?.stop());

it('reads exhausted before the first refusal, with the ids that are stranded', async () => {
  expect((await server.get('/v1/sequences/int32-orders')).json).toMatchObject({
    exhausted: true,
    remaining: '0',
    stranded: '148',
  });
});

it('counts every refusal with the name of the sequence, and logs the end once a minute', async () => {
  for (let i = 0; i < 20; i++)
    expect(await server.post('/v1/sequences/int32-orders/next')).toMatchObject({
      status: 410,
      json: { detail: expect.stringContaining('148 ids are left, and a block needs 500') },
    });
  expect((await server.post('/v1/sequences/int32-orders/blocks')).status).toBe(410);
  const series = 'idsmith_sequence_refusals_total{sequence="int32-orders",code="SEQUENCE_EXHAUSTED"}';
  expect(await server.metric(series)).toBe(21);
  const lines = server.log.filter((line) => line.includes('sequence exhausted'));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] as string)).toMatchObject({ level: 'warn', sequence: 'int32-orders' });
});

it('does not count names that nobody has defined', async () => {
  await server.post('/v1/sequences/made-up/next');
  expect((await server.get('/metrics')).text).not.toContain('made-up');
});

it('opens again with a smaller block size', async () => {
  const altered = await server.call('PATCH', '/v1/sequences/int32-orders', { body: { blockSize: 10 } });
  expect(altered.json).toMatchObject({ exhausted: false, remaining: '140', stranded: '8' });
  expect((await server.post('/v1/sequences/int32-orders/next')).status).toBe(200);
});
