import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exchange } from '../support/raw.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server?.stop());

/** The status of a request with these headers, which `fetch` would not let anybody set. */
async function statusOf(method: string, headers: Record<string, string>, to = server): Promise<number> {
  const path = method === 'GET' ? '/v1/sequences' : '/v1/flakes';
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const answer = await exchange(
    to.port,
    `${method} ${path} HTTP/1.1\r\n${lines.join('')}Connection: close\r\n\r\n`,
  );
  return Number(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1]);
}

describe('Pages of other sites', () => {
  const host = () => `127.0.0.1:${server.port}`;

  it.each([
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
    [{ origin: 'http://127.0.0.1:1' }],
    [{ origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
  ])('cannot change anything with the headers %j', async (headers) => {
    expect(await statusOf('POST', { host: host(), ...headers })).toBe(403);
  });

  it('are told apart from the console behind a proxy that sends another host, once its origin is set', async () => {
    const console = { origin: 'https://ids.example.com', 'sec-fetch-site': 'same-origin' };
    const refused = await exchange(
      server.port,
      'POST /v1/flakes HTTP/1.1\r\nHost: localhost\r\nOrigin: https://ids.example.com\r\nConnection: close\r\n\r\n',
    );
    expect(refused).toMatch(/^HTTP\/1.1 403 .*start it with --origin https:\/\/ids\.example\.com"/s);
    const proxied = await TestServer.start({ origin: 'https://IDS.example.com/' });
    const status = (headers: Record<string, string>) =>
      statusOf('POST', { host: 'localhost', ...headers }, proxied);
    expect(await status(console)).toBe(200);
    expect(await status({ origin: console.origin })).toBe(200);
    expect(await status({ origin: 'http://localhost' })).toBe(200);
    expect(await status({ ...console, 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await status({ ...console, 'sec-fetch-site': 'same-site' })).toBe(403);
    for (const origin of [
      'http://ids.example.com',
      'https://ids.example.com:444',
      'https://evil.example',
      'null',
    ])
      expect(await status({ origin })).toBe(403);
    await proxied.stop();
  });

  it('are told apart from pages of this server, and from programs', async () => {
    const own = { origin: `http://${host()}`, 'sec-fetch-site': 'same-origin' };
    expect(await statusOf('POST', { host: host(), ...own })).toBe(200);
    expect(await statusOf('POST', { host: host(), 'sec-fetch-site': 'none' })).toBe(200);
    expect(await statusOf('POST', { host: host() })).toBe(200);
  });

  it.each([
    'evil.example',
    'evil.example:7600',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '192.0.2.1',
    '[::2]',
  ])('cannot come in under the name %s', async (name) => {
    expect(await statusOf('POST', { host: name })).toBe(403);
    expect(await statusOf('GET', { host: name })).toBe(403);
  });

  it.each(['localhost', 'LOCALHOST:7600', '127.0.0.1:80', '127.1.2.3', '[::1]:7600'])(
    'are not meant by the name %s',
    async (name) => {
      expect(await statusOf('GET', { host: name })).toBe(200);
    },
  );

  it.each(['/', '/v1/sequences', '/nowhere', '/v1/flakes', '/openapi.json', '/%zz'])(
    'can neither read, embed nor frame %s',
    async (path) => {
      const { headers } = await server.get(path);
      expect(headers.get('access-control-allow-origin')).toBeNull();
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
    },
  );

  it('cannot frame the page or open it in their own window, and it runs no scripts but its own', async () => {
    const { headers } = await server.get('/');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('content-security-policy')).toContain("script-src 'self'; style-src 'self'");
  });

  it('get no answer to a preflight', async () => {
    const { status, headers } = await server.call('OPTIONS', '/v1/flakes');
    expect(status).toBe(405);
    expect(headers.get('access-control-allow-methods')).toBeNull();
  });
});
