import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalityUuid, layouts } from 'idsmith';
import { publicIds } from 'idsmith/public';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createToken } from '../../src/index.ts';
import { PublicIdCodecs } from '../../src/mint/public-id-codecs.ts';
import { TestServer } from '../support/server.ts';

const KEY = '2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94';
const keys = { 1: KEY };
const orders = publicIds({ prefix: 'ord', keys });
const users = publicIds({ prefix: 'usr', keys, of: 'uuid' });
const invoices = publicIds({ prefix: 'inv', keys, short: true });

const folder = mkdtempSync(join(tmpdir(), 'idsmith-public-'));
const write = (text: string | Buffer, mode = 0o600) => {
  const file = join(folder, 'public-ids.json');
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
};

let server: TestServer;
const tokens = join(folder, 'tokens.json');
let minting: { token: string };
let admin: { token: string };
beforeAll(async () => {
  minting = { token: await createToken(tokens, { name: 'minting', scopes: ['mint'] }) };
  admin = { token: await createToken(tokens, { name: 'all', scopes: ['mint', 'admin'] }) };
  const file = write(
    JSON.stringify({ ord: { keys }, usr: { keys, of: 'uuid' }, inv: { keys, short: true } }),
  );
  server = await TestServer.prepare({ tokens, publicIds: file, log: 'requests' });
  for (const body of [
    { name: 'orders' },
    { name: 'below', start: '-5' },
    { name: 'down', start: '10', step: -1, blockSize: 2 },
  ])
    await server.post('/v1/sequences', { body, ...admin });
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('?public=', () => {
  it.each([1, 3])('encodes %i flakes', async (count) => {
    const { ids } = (await server.post(`/v1/flakes?count=${count}&public=ord`, minting)).json;
    expect(ids).toHaveLength(count);
    for (const id of ids)
      expect(Math.abs(layouts.jflake.decode(orders.decode(id)).timestamp - Date.now())).toBeLessThan(60_000);
  });

  it.each(['variable', 'sequential'])('encodes locality UUIDs of the mode %s', async (mode) => {
    const { ids } = (await server.post(`/v1/locality?count=3&mode=${mode}&public=usr`, minting)).json;
    expect(ids.map((id: string) => LocalityUuid.parse(users.decode(id)).version)).toEqual(['b', 'b', 'b']);
  });

  it('encodes sequence numbers, and a wrong prefix takes none', async () => {
    const next = async (query: string) =>
      (await server.post(`/v1/sequences/orders/next?${query}`, minting)).json;
    expect(orders.decode((await next('public=ord')).ids[0])).toBe(1n);
    expect((await next('public=nope')).code).toBe('INVALID_OPTION');
    expect((await next('public=inv&count=101')).detail).toContain('at most 100');
    expect((await next('count=2&public=inv')).ids.map(invoices.decode)).toEqual([2n, 3n]);
  });

  it('gives the ids themselves, too, where they are asked for', async () => {
    const path = '/v1/sequences/orders/next?count=2&public=ord&plain=';
    const { json } = await server.post(`${path}true`, minting);
    expect(Object.keys(json)).toEqual(['ids', 'plain']);
    expect(json.ids.map((id: string) => String(orders.decode(id)))).toEqual(json.plain);
    expect(Object.keys((await server.post(`${path}false`, minting)).json)).toEqual(['ids']);
  });

  it('names the prefixes, and not the keys', async () => {
    const { publicIds } = (await server.get('/v1/server', minting)).json;
    expect(publicIds).toEqual([
      { prefix: 'ord', of: 'int64', short: false },
      { prefix: 'usr', of: 'uuid', short: false },
      { prefix: 'inv', of: 'int64', short: true },
    ]);
  });

  it('gives the same texts again for the same idempotency key', async () => {
    const headers = { 'idempotency-key': 'f47ac10b-58cc-4372-a567-0e02b2c3d479' };
    const call = () => server.post('/v1/sequences/orders/next?public=ord', { ...minting, headers });
    expect((await call()).json).toEqual((await call()).json);
  });

  it.each([
    ['/v1/flakes?public=nope', 'the prefix "nope" is not known here; for ids of int64 there is ord, inv'],
    ['/v1/flakes?public=usr', 'the prefix "usr" is for ids of uuid; for ids of int64 there is ord, inv'],
    ['/v1/locality?public=ord', 'the prefix "ord" is for ids of int64; for ids of uuid there is usr'],
    ['/v1/flakes?public=__proto__', 'the prefix "__proto__" is not known here'],
    ['/v1/flakes?public=', 'public in the query must have 1 to 63 characters, not 0'],
    ['/v1/flakes?public=ord&public=inv', 'public in the query must be text, not ["ord","inv"]'],
    ['/v1/flakes?plain=true', 'plain goes with public'],
    ['/v1/flakes?public=ord&plain=1', 'plain in the query must be text, not 1'],
    ['/v1/keys?public=ord', '"public" in the query is unknown'],
    [
      '/v1/sequences/below/next?public=inv',
      'sequence "below" can go down to -5, and short public ids hold no',
    ],
    ['/v1/sequences/down/next?public=inv', 'can go down to -9223372036854775808'],
  ])('refuses %s', async (path, detail) => {
    const { status, json } = await server.post(path, minting);
    expect([status, json.detail]).toEqual([422, expect.stringContaining(detail)]);
  });

  it('takes no ids of a sequence that short ids do not hold', async () => {
    const next = async (query: string) => (await server.post(`/v1/sequences/${query}`, minting)).json.ids;
    expect(await next('below/next?public=inv&count=3')).toBeUndefined();
    expect(await next('below/next?count=2')).toEqual(['-5', '-4']);
    await server.call('PATCH', '/v1/sequences/down', { body: { min: '0' }, ...admin });
    expect((await next('down/next?public=inv&count=2')).map(invoices.decode)).toEqual([10n, 9n]);
  });

  it('needs the file', async () => {
    const plain = await TestServer.prepare();
    const { status, json } = await plain.post('/v1/flakes?public=ord');
    await plain.stop();
    expect({ status, ...json }).toMatchObject({ status: 501, code: 'NOT_CONFIGURED' });
    expect(json.detail).toContain('--public-ids');
  });
});

describe('GET /v1/inspect of a public id', () => {
  const text = orders.encode(10001n);
  const forged = text.slice(0, -1) + (text.endsWith('0') ? '1' : '0');
  const read = async (id: string, caller: { token: string }) =>
    (await server.get(`/v1/inspect/${id}`, caller)).json.readings[0];

  it('shows the id inside to admins alone', async () => {
    const fields = { prefix: 'ord', form: 'int64', keyId: 1 };
    expect((await read(text, minting)).fields).toEqual(fields);
    expect((await read(text, admin)).fields).toEqual({ ...fields, id: '10001' });
  });

  it('tells others nothing about a text that is not genuine', async () => {
    expect(await read(forged, minting)).toEqual(await read(text, minting));
    expect((await read(forged, admin)).reason).toContain('none of the keys');
  });
});

describe('The keys', () => {
  it('are in no document and no log', async () => {
    const { text } = await server.get('/openapi.json');
    expect([text, ...server.log].join()).not.toMatch(/2b7e1516|"(ord|usr|inv)"/);
  });

  it.each([
    ['', 'must hold a JSON object'],
    [`{ "ord": ${KEY} }`, 'must hold a JSON object'],
    ['[]', 'must hold a JSON object'],
    ['{}', 'has no prefix'],
    [`{ "${KEY}": "ord" }`, 'entry 1: its name must be a prefix'],
    [`{ "ord": "${KEY}" }`, 'prefix ord: must be an object'],
    [`{ "ord": { "${KEY}": 1 } }`, 'with no other names than keys, current, of, short'],
    [`{ "ord": { "keys": "${KEY}" } }`, 'keys must be an object'],
    [`{ "ord": { "keys": { "${KEY}": 1 } } }`, 'keys must be an object'],
    [`{ "ord": { "keys": { "1": "${KEY.slice(1)}" } } }`, 'key 1 must be 32 bytes'],
    [`{ "ord": { "keys": { "200": "${KEY}" } } }`, 'an id in keys'],
    [`{ "ord": { "keys": { "1": "${KEY}" }, "current": "${KEY}" } }`, 'current has the wrong type'],
    [`{ "ord": { "keys": { "1": "${KEY}" }, "current": ["${KEY}"] } }`, 'current has the wrong type'],
    [`{ "ord": { "keys": { "1": "${KEY}" }, "of": "${KEY}" } }`, 'of must be int64 or uuid'],
    [`{ "ord": { "keys": { "1": "${KEY}" }, "short": "${KEY}" } }`, 'short has the wrong type'],
  ])('are not in the message about the file %j', (text, problem) => {
    let error = new Error();
    try {
      new PublicIdCodecs(write(text));
    } catch (caught) {
      error = caught as Error;
    }
    expect(error).toMatchObject({ code: 'INVALID_OPTION', message: expect.stringContaining(problem) });
    for (let each: unknown = error; each instanceof Error; each = each.cause)
      expect(each.message).not.toContain(KEY.slice(0, 8));
  });

  it('are refused in a file that is not UTF-8', () => {
    const latin1 = Buffer.from('{"caf\u00e9":{}}', 'latin1');
    expect(() => new PublicIdCodecs(write(latin1))).toThrow(/^public ids: \S+, line 1: not UTF-8/);
  });

  it('are refused in a file that others can read, or that is not there', () => {
    expect(() => new PublicIdCodecs(write('{}', 0o640))).toThrow(/open to other users: run chmod 600/);
    expect(() => new PublicIdCodecs(join(folder, 'none.json'))).toThrow(/none\.json cannot be read: ENOENT/);
  });
});
