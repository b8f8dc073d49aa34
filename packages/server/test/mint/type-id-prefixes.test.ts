import { InvalidOptionError } from 'idsmith';
import { typeIds } from 'idsmith/typeid';
import { uuid7 } from 'idsmith/uuid7';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TypeIdPrefixes } from '../../src/mint/type-id-prefixes.ts';
import { TestServer } from '../support/server.ts';

const users = typeIds('user');

describe('?prefix= of a server with prefixes', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.prepare({ typeIds: 'user, order_line' });
  });
  afterAll(() => server?.stop());

  it.each([1, 3])('gives %i typed ids that increase, with a leased node id inside', async (count) => {
    const { ids } = (await server.post(`/v1/uuid7?prefix=user&count=${count}`)).json as { ids: string[] };
    expect(ids).toHaveLength(count);
    expect(ids).toEqual(ids.toSorted());
    const uuids = ids.map(users.toUuid);
    for (const uuid of uuids)
      expect(Math.abs(uuid7.timeOf(uuid).getTime() - Date.now())).toBeLessThan(60_000);
    expect(new Set(uuids.map((uuid) => uuid.slice(-4))).size).toBe(1);
  });

  it('gives the UUIDs, too, where they are asked for', async () => {
    const { json } = await server.post('/v1/uuid7?prefix=order_line&count=2&plain=true');
    expect(Object.keys(json)).toEqual(['ids', 'plain']);
    expect(json.ids.map(typeIds('order_line').toUuid)).toEqual(json.plain);
    expect(Object.keys((await server.post('/v1/uuid7?prefix=user&plain=false')).json)).toEqual(['ids']);
  });

  it('names the prefixes, and explains a typed id', async () => {
    expect((await server.get('/v1/server')).json.typeIds).toEqual(['user', 'order_line']);
    const id = users.next();
    const { readings } = (await server.get(`/v1/inspect/${id}`)).json;
    expect(readings[0]).toMatchObject({
      family: 'typeid',
      fields: { prefix: 'user', uuid: users.toUuid(id) },
    });
  });

  it.each([
    ['/v1/uuid7?prefix=invoice', 'prefix: "invoice" is not known here; there is user, order_line'],
    ['/v1/uuid7?prefix=__proto__', '"__proto__" is not known here'],
    ['/v1/uuid7?prefix=user&public=usr', 'prefix does not go with public'],
    ['/v1/uuid7?prefix=', 'prefix in the query must have 1 to 63 characters, not 0'],
    ['/v1/uuid7?prefix=user&prefix=user', 'prefix in the query must be text'],
    ['/v1/flakes?prefix=user', '"prefix" in the query is unknown'],
    ['/v1/locality?prefix=user', '"prefix" in the query is unknown'],
  ])('refuses %s', async (path, detail) => {
    const { status, json } = await server.post(path);
    expect([status, json.detail]).toEqual([422, expect.stringContaining(detail)]);
  });
});

it('a server without prefixes says how to get them', async () => {
  const server = await TestServer.prepare({});
  const { status, json } = await server.post('/v1/uuid7?prefix=user');
  expect({ status, ...json }).toMatchObject({ status: 501, code: 'NOT_CONFIGURED' });
  expect(json.detail).toContain('--type-ids user,order');
  expect((await server.get('/v1/server')).json.typeIds).toEqual([]);
  await server.stop();
});

it.each([
  ['User', 'type-ids: prefix must be 0 to 63 letters'],
  ['user,order_', 'not "order_"'],
  ['user,,order', 'type-ids: "user,,order" has an empty prefix between commas'],
  [',', 'empty prefix'],
])('the setting %s stops the start', (list, message) => {
  expect(() => new TypeIdPrefixes(list)).toThrow(InvalidOptionError);
  expect(() => new TypeIdPrefixes(list)).toThrow(message);
});
