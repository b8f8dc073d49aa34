import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemOf } from '../support/problem.ts';
import { exchange } from '../support/raw.ts';
import { type Options, TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
  await server.post('/v1/sequences', { body: { name: 'short', max: 3, blockSize: 3 } });
});
afterAll(() => server?.stop());

const lease = { id: 0, owner: 'a', epoch: 1, fence: 1, expiresAt: 1, label: '' };

describe('Bad input', () => {
  it.each<[string, string, Options?]>([
    ['POST', '/v1/flakes?count=0'],
    ['POST', '/v1/flakes?count=10001'],
    ['POST', '/v1/flakes?count=-1'],
    ['POST', '/v1/flakes?count=1.5'],
    ['POST', '/v1/flakes?count=1e3'],
    ['POST', '/v1/flakes?count=0x10'],
    ['POST', '/v1/flakes?count=%201'],
    ['POST', '/v1/flakes?count='],
    ['POST', '/v1/flakes?count=99999999999999999999'],
    ['POST', '/v1/flakes?count=1&count=2'],
    ['POST', '/v1/flakes?cuont=1'],
    ['POST', '/v1/flakes', { body: { count: 3 } }],
    ['POST', '/v1/flakes', { body: [] }],
    ['POST', '/v1/locality?mode=both'],
    ['POST', '/v1/sequences', { body: {} }],
    ['POST', '/v1/sequences', { body: [] }],
    ['POST', '/v1/sequences', { body: 'text' }],
    ['POST', '/v1/sequences', { body: null }],
    ['POST', '/v1/sequences', { body: { name: '' } }],
    ['POST', '/v1/sequences', { body: { name: "o'brien" } }],
    ['POST', '/v1/sequences', { body: { name: 'x'.repeat(256) } }],
    ['POST', '/v1/sequences', { body: { name: 'x', blockSize: 0 } }],
    ['POST', '/v1/sequences', { body: { name: 'x', blockSize: '20' } }],
    ['POST', '/v1/sequences', { body: { name: 'x', step: 0 } }],
    ['POST', '/v1/sequences', { body: { name: 'x', start: '9223372036854775808' } }],
    ['POST', '/v1/sequences', { body: { name: 'x', start: 9007199254740992 } }],
    ['POST', '/v1/sequences', { body: { name: 'x', start: '1.5' } }],
    ['POST', '/v1/sequences', { body: { name: 'x', min: 5, max: 4 } }],
    ['POST', '/v1/sequences', { body: { name: 'x', surplus: true } }],
    ['PATCH', '/v1/sequences/short', { body: { next: '1', step: -1 } }],
    ['PATCH', '/v1/sequences/short', { body: { start: '5' } }],
    ['POST', `/v1/sequences/${'x'.repeat(256)}/next`],
    ['POST', '/v1/sequences/a%00b/next'],
    ['POST', '/v1/sequences/x/tails', { body: { first: 1, step: 1, count: 1 } }],
    ['POST', '/v1/leases/x/swap', { body: {} }],
    ['POST', '/v1/leases/x/swap', { body: { next: { ...lease, id: -3 } } }],
    ['POST', '/v1/leases/x/swap', { body: { next: { ...lease, fence: 1.5 } } }],
    ['POST', '/v1/leases/x/swap', { body: { next: { ...lease, label: 'x'.repeat(256) } } }],
    ['GET', `/v1/leases/${'x'.repeat(256)}`],
    ['POST', '/v1/flakes', { headers: { 'idempotency-key': 'x'.repeat(256) } }],
    ['POST', '/v1/flakes', { headers: { 'idempotency-key': '1' } }],
  ])('of %s %s is 422 and names what is wrong', async (method, path, options) => {
    const { status, code } = problemOf(await server.call(method, path, options));
    expect({ status, code }).toEqual({ status: 422, code: 'INVALID_OPTION' });
  });

  it('that is no id is 422', async () => {
    const { status, code } = problemOf(await server.get('/v1/inspect/!!!'));
    expect({ status, code }).toEqual({ status: 422, code: 'INVALID_ID' });
  });

  it.each([
    ['{', 'application/json', 400, 'MALFORMED'],
    ['{"name":"x","__proto__":{}}', 'application/json', 400, 'MALFORMED'],
    ['name=x', 'application/x-www-form-urlencoded', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['{"name":"x"}', 'text/plain', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['{"name":"x"}', 'nonsense', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [`{"name":"${'x'.repeat(70_000)}"}`, 'application/json', 413, 'TOO_LARGE'],
  ])('of the body %.30s as %s is %i', async (body, type, expected, code) => {
    const response = await fetch(`${server.url}/v1/sequences`, {
      method: 'POST',
      body,
      headers: { 'content-type': type },
    });
    const json = await response.json();
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(json).toMatchObject({ status: expected, code });
  });

  it.each([
    ['a list', '['.repeat(30_000) + ']'.repeat(30_000), '/v1/flakes'],
    ['objects', '{"a":'.repeat(5000), '/v1/sequences'],
    ['lists in an object', `{"name":${'['.repeat(33)}${']'.repeat(33)}}`, '/v1/sequences'],
  ])('that is nested too deeply, %s, is 400', async (_, body, path) => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(server.url + path, { method: 'POST', body, headers });
    expect(await response.json()).toMatchObject({
      status: 400,
      code: 'MALFORMED',
      detail: 'the body is nested more than 32 levels deep',
    });
  });

  it('may have brackets in its texts', async () => {
    const name = `${'['.repeat(100)}\\`;
    expect((await server.post('/v1/sequences', { body: { name } })).status).toBe(201);
  });

  it.each(['gzip', 'br', 'identity, gzip', 'x'])('that is encoded as %s is 415', async (encoding) => {
    const options = { body: { name: 'y' }, headers: { 'content-encoding': encoding } };
    const seen = await server.post('/v1/sequences', options);
    expect(problemOf(seen)).toMatchObject({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
    expect(seen.headers.get('accept-encoding')).toBe('identity');
    expect((await server.get('/v1/sequences/y')).status).toBe(404);
  });

  it.each([1.5, 'x', '1.5', 2 ** 60, true, [], '99999999999999999999'])(
    'of the start %j says what it must be',
    async (start) => {
      const { detail } = problemOf(await server.post('/v1/sequences', { body: { name: 'z', start } }));
      expect(detail).toBe(
        `start in the body must be an integer, as a decimal string, not ${JSON.stringify(start)}`,
      );
    },
  );

  it.each([
    ['label', 'a\0b'],
    ['label', 'a\ud800'],
    ['owner', '\0'],
    ['owner', '\udc00b'],
  ])('of the %s %j of a lease is 422: not every store could keep it', async (field, text) => {
    const now = Date.now();
    const next = { ...lease, fence: now + 1000, expiresAt: now + 1000, [field]: text };
    const seen = await server.post('/v1/leases/odd/swap', { body: { next } });
    expect(problemOf(seen)).toMatchObject({ status: 422, code: 'INVALID_OPTION' });
    expect(problemOf(seen).detail).toContain(`next.${field} must be text without NUL`);
    expect((await server.get('/v1/leases/odd')).json.leases).toEqual([]);
  });

  it('that is empty JSON is as good as none where none is needed', async () => {
    const headers = { 'content-type': 'application/json' };
    expect((await server.post('/v1/flakes', { headers })).status).toBe(200);
    expect((await server.post('/v1/flakes', { body: {} })).status).toBe(200);
    expect((await server.post('/v1/sequences', { headers })).status).toBe(422);
  });

  it('that is no HTTP is 400, and what does not arrive is 408', async () => {
    expect(await exchange(server.port, 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1.1 400 .*"code":"MALFORMED"/s);
    const head = 'POST /v1/sequences HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    // A server of its own, because a busy machine may need as long for a request that does arrive.
    const impatient = await TestServer.start({ requestTimeout: 300 });
    const slow = await exchange(impatient.port, `${head}Content-Length: 100\r\n\r\n{"na`);
    await impatient.stop();
    expect(slow).toMatch(/^HTTP\/1.1 408 .*"code":"TIMEOUT"/s);
    expect(await exchange(server.port, `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 431 /,
    );
    expect(
      await exchange(server.port, 'GET /%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
    ).toMatch(/^HTTP\/1.1 400 .*application\/problem\+json/s);
  });
});

describe('A problem', () => {
  it.each([
    ['GET', '/nowhere', 404, 'NOT_FOUND'],
    ['POST', '/v1/sequences/none/next', 404, 'NO_SUCH_SEQUENCE'],
    ['POST', '/v1/sequences/none/blocks', 404, 'NO_SUCH_SEQUENCE'],
    ['GET', '/v1/sequences/none', 404, 'NO_SUCH_SEQUENCE'],
    ['DELETE', '/v1/sequences/none', 404, 'NO_SUCH_SEQUENCE'],
    ['GET', '/v1/flakes', 405, 'METHOD_NOT_ALLOWED'],
    ['PUT', '/v1/sequences/short', 405, 'METHOD_NOT_ALLOWED'],
  ])('of %s %s is %i', async (method, path, expected, code) => {
    const seen = await server.call(method, path);
    expect(problemOf(seen)).toMatchObject({ status: expected, code });
    if (expected === 405) expect(seen.headers.get('allow')).toBeTruthy();
  });

  it.each([
    ['/healthz', 'GET, HEAD'],
    ['/v1/sequences/short', 'GET, HEAD, PATCH, DELETE'],
  ])('of a wrong method of %s lists those that work, HEAD included', async (path, allow) => {
    expect((await server.call('PUT', path)).headers.get('allow')).toBe(allow);
    expect((await server.call('HEAD', path)).status).toBe(200);
  });

  it('of a body that is not JSON names the type that works', async () => {
    const headers = { 'content-type': 'text/plain' };
    const seen = await server.call('POST', '/v1/flakes', { body: 'x', headers });
    expect(problemOf(seen)).toMatchObject({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
    expect(problemOf(seen).detail).toContain('application/json');
  });

  it('of a sequence with too few ids says how many are left, and these can be drawn', async () => {
    await server.post('/v1/sequences', { body: { name: 'few', max: '100', blockSize: 10 } });
    const tooMany = await server.post('/v1/sequences/few/next?count=101');
    expect(problemOf(tooMany)).toMatchObject({ status: 410, code: 'SEQUENCE_EXHAUSTED' });
    expect(problemOf(tooMany).detail).toContain('100 ids are at hand, fewer than count=101');
    expect((await server.post('/v1/sequences/few/next?count=100')).json.ids).toHaveLength(100);
  });

  it('of a sequence that is defined twice is 409', async () => {
    const again = await server.post('/v1/sequences', { body: { name: 'short' } });
    expect(problemOf(again)).toMatchObject({ status: 409, code: 'SEQUENCE_EXISTS' });
  });

  it('of a sequence that has ended is 410, and the last ids were given before', async () => {
    expect((await server.post('/v1/sequences/short/next?count=3')).json.ids).toEqual(['1', '2', '3']);
    const over = await server.post('/v1/sequences/short/next');
    expect(problemOf(over)).toMatchObject({ status: 410, code: 'SEQUENCE_EXHAUSTED' });
  });
});
