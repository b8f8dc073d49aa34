import { afterAll, beforeAll, expect, it } from 'vitest';
import { Audit } from '../../src/ops/audit.ts';
import { makeLog } from '../../src/ops/log.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let token: string;
beforeAll(async () => {
  [server, token] = await TestServer.startWithToken();
});
afterAll(() => server?.stop());

it('has every administrative change with the name of the token, and what was before and after', async () => {
  await server.post('/v1/sequences', { token, body: { name: 'orders', blockSize: 5 } });
  await server.call('PATCH', '/v1/sequences/orders', { token, body: { blockSize: 7, next: '100' } });
  await server.call('PATCH', '/v1/sequences/orders', { token, body: { next: '3' } });
  await server.call('DELETE', '/v1/sequences/orders', { token });
  const { changes } = (await server.get('/v1/audit', { token })).json;
  const by = { subject: 'orders', token: 'all', tokenId: expect.stringMatching(/^[0-9a-f]{12}$/) };
  expect(changes).toMatchObject([
    { ...by, action: 'remove', before: { blockSize: 7, next: '100' }, after: null },
    { ...by, action: 'alter', before: { blockSize: 5, next: '1' }, after: { blockSize: 7, next: '100' } },
    { ...by, action: 'define', before: null, after: { blockSize: 5, next: '1' } },
  ]);
  // Only what has changed.
  expect(Object.keys(changes[1].after).sort()).toEqual(['blockSize', 'next']);
  const lines = server.log.map((line) => JSON.parse(line)).filter(({ event }) => event === 'change');
  expect(lines).toMatchObject([
    { level: 'info', action: 'define', subject: 'orders', token: 'all' },
    { level: 'info', action: 'alter' },
    { level: 'info', action: 'remove' },
  ]);
});

it('keeps the latest thousand', () => {
  const audit = new Audit(makeLog('silent', () => {}));
  for (let i = 0; i < 1500; i++) audit.add({ id: '', caller: null }, 'define', String(i), null, {});
  expect([audit.changes.length, audit.changes[0]?.subject, audit.changes[0]?.token]).toEqual([
    1000,
    '1499',
    null,
  ]);
});
