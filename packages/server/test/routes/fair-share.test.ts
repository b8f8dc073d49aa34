import { join } from 'node:path';
import { memoryStore } from 'idsmith';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { makeFolder, removeFolder } from '#services/guard.ts';
import { createToken } from '../../src/index.ts';
import { mapInTurns } from '../../src/ops/turns.ts';
import { TestServer } from '../support/server.ts';

const folder = makeFolder('fair');
let server: TestServer;
afterEach(() => server.stop());
afterAll(() => removeFolder(folder));

describe('Readers of lists', () => {
  it('share one listing of the store, which a change of this server renews', async () => {
    const inner = memoryStore();
    let listings = 0;
    const store = {
      ...inner,
      listSequences() {
        listings++;
        return inner.listSequences();
      },
    };
    for (let i = 0; i < 50; i++) await inner.defineSequence({ name: `s${i}` });
    server = await TestServer.prepare({ history: 'off' }, store);
    const paths = [
      '/v1/sequences?limit=1',
      '/v1/series',
      '/metrics',
      '/v1/sequences?sort=-next',
      '/v1/sequences',
    ];
    await Promise.all(paths.map((path) => server.get(path)));
    for (let i = 0; i < 5; i++) for (const path of paths) expect((await server.get(path)).status).toBe(200);
    // More than a second may have passed on a slow machine.
    expect(listings).toBeLessThan(5);
    await server.post('/v1/sequences', { body: { name: 'new' } });
    expect((await server.get('/v1/sequences?q=new')).json).toMatchObject({ total: 1 });
  });
});

describe('The rate limit of a token', () => {
  it('counts the work of many ids as several requests', async () => {
    const tokens = join(folder, 'tokens.json');
    const token = await createToken(tokens, { name: 'mint', scopes: ['mint'], rate: 10 });
    const other = await createToken(tokens, { name: 'other', scopes: ['mint', 'admin'], rate: 100 });
    server = await TestServer.prepare({ tokens });
    // 10,000 flakes are the work of a hundred requests.
    expect((await server.post('/v1/flakes?count=10000', { token })).status).toBe(200);
    const refused = await server.post('/v1/flakes', { token });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(5);
    // 1,000 numbers of a series are the work of five hundred.
    const body = { format: '{n}' };
    expect((await server.post('/v1/series/a/next?count=1000', { token: other, body })).status).toBe(200);
    const later = await server.post('/v1/flakes', { token: other });
    expect(later.status).toBe(429);
    expect(Number(later.headers.get('retry-after'))).toBeGreaterThan(2);
  });

  it('lets other requests take their turn within a long answer', async () => {
    server = await TestServer.prepare();
    let turns = 0;
    const counting = setInterval(() => turns++, 0);
    const immediate = () => {
      turns++;
      handle = setImmediate(immediate);
    };
    let handle = setImmediate(immediate);
    const ids = await mapInTurns(
      Array.from({ length: 1000 }, (_, i) => i),
      String,
    );
    clearInterval(counting);
    clearImmediate(handle);
    expect(ids).toEqual(Array.from({ length: 1000 }, (_, i) => String(i)));
    expect(turns).toBeGreaterThanOrEqual(9);
    expect(mapInTurns([1, 2], String)).toEqual(['1', '2']);
  });
});
