import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { traceIdOf } from '../../src/http/headers.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ log: 'requests' });
});
afterAll(() => server?.stop());

const idOf = async (method: string, path: string, id?: string) =>
  (await server.call(method, path, { headers: id === undefined ? {} : { 'x-request-id': id } })).headers.get(
    'x-request-id',
  );

describe('X-Request-Id', () => {
  it.each([
    ['POST', '/v1/flakes'],
    ['POST', '/v1/flakes?count=0'],
    ['GET', '/'],
    ['GET', '/nowhere'],
    ['GET', '/%zz'],
    ['DELETE', '/v1/sequences/none'],
    ['GET', '/v1/sequences/none'],
  ])('comes back from %s %s as it was sent', async (method, path) => {
    expect(await idOf(method, path, 'Order:17/a+b=@c_d.e-f')).toBe('Order:17/a+b=@c_d.e-f');
  });

  it('is made where there is none, another one for each request', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => idOf('POST', '/v1/flakes')));
    expect(new Set(ids).size).toBe(20);
    for (const id of ids) expect(id).toMatch(/^[\w-]{12}-\d+$/);
  });

  it.each(['', 'x'.repeat(129), 'a b', 'a"b', 'a,b', '{"level":"error"}', 'ü'])(
    'is replaced if it is %j',
    async (id) => {
      expect(await idOf('POST', '/v1/flakes', id)).toMatch(/^[\w-]{12}-\d+$/);
    },
  );

  it('is in the line of its request, and in no line as it came if it was not valid', async () => {
    await idOf('POST', '/v1/locality', 'line-1');
    await idOf('POST', '/v1/locality', 'line 2');
    const lines = () => server.log.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request');
    await expect.poll(() => lines().filter(({ path }) => path === '/v1/locality')).toHaveLength(2);
    expect(lines().map(({ requestId }) => requestId)).toContain('line-1');
    expect(server.log.join('')).not.toContain('line 2');
    expect(lines().every((line) => !('traceId' in line))).toBe(true);
  });
});

describe('traceparent', () => {
  const [trace, span] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];

  it.each([
    [`00-${trace}-${span}-01`],
    [`cc-${trace}-${span}-00`],
    [`cc-${trace}-${span}-01-what-the-future-will-be-like`],
  ])('%s tells the trace', (traceparent) => {
    expect(traceIdOf({ traceparent })).toBe(trace);
  });

  it.each([
    [undefined],
    [''],
    [`ff-${trace}-${span}-01`],
    [`00-${'0'.repeat(32)}-${span}-01`],
    [`00-${trace}-${'0'.repeat(16)}-01`],
    [`00-${trace}-${span}-01-more`],
    [`00-${trace.toUpperCase()}-${span}-01`],
    [`00-${trace}-${span}-0`],
    [`cc-${trace}-${span}-01.more`],
    [` 00-${trace}-${span}-01`],
  ])('%s tells nothing', (traceparent) => {
    expect(traceIdOf({ traceparent })).toBeUndefined();
  });
});
