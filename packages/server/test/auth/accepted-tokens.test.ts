import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidOptionError } from 'idsmith';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createToken, readSettings, revokeToken, type Scope, type Sources } from '../../src/index.ts';
import { startIdsmith } from '../support/process.ts';
import { type Options, TestServer } from '../support/server.ts';

const folder = mkdtempSync(join(tmpdir(), 'idsmith-tokens-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('A server with tokens', () => {
  let server: TestServer;
  const tokens: Record<string, string> = {};

  beforeAll(async () => {
    const file = join(folder, 'live.json');
    for (const scope of ['mint', 'lease', 'admin'] as const)
      tokens[scope] = await createToken(file, { name: scope, scopes: [scope] });
    tokens.limited = await createToken(file, {
      name: 'limited',
      scopes: ['mint', 'lease'],
      rate: 3,
      batch: 10,
    });
    server = await TestServer.start({ tokens: file });
    await server.post('/v1/sequences', { token: tokens.admin!, body: { name: 'x' } });
  });
  afterAll(() => server?.stop());

  const lease = { id: 0, owner: 'a', epoch: 1, fence: 1, expiresAt: 1, label: '' };

  const ROUTES: [method: string, path: string, scope: Scope, options?: Options][] = [
    ['POST', '/v1/flakes', 'mint'],
    ['POST', '/v1/locality', 'mint'],
    ['POST', '/v1/uuid7', 'mint'],
    ['POST', '/v1/keys', 'mint'],
    ['POST', '/v1/sequences/x/next', 'mint'],
    ['POST', '/v1/sequences/x/blocks', 'lease'],
    ['POST', '/v1/sequences/x/tails', 'lease', { body: { first: '1', step: 1, count: 1 } }],
    ['POST', '/v1/leases/x/swap', 'lease', { body: { next: lease } }],
    ['POST', '/v1/sequences', 'admin', { body: { name: 'x' } }],
    ['PATCH', '/v1/sequences/x', 'admin', { body: {} }],
    ['DELETE', '/v1/sequences/none', 'admin'],
    ['DELETE', '/v1/leases/idsmith-verify%2Fnone', 'admin'],
  ];

  it.each(ROUTES)(
    'lets %s %s be called with the scope %s, and with no other',
    async (method, path, scope, options) => {
      for (const [name, token] of Object.entries(tokens)) {
        if (name === 'limited') continue;
        const { status, json } = await server.call(method, path, { ...options, token });
        if (name === scope) expect([401, 403]).not.toContain(status);
        else expect({ status, code: json.code }).toEqual({ status: 403, code: 'FORBIDDEN' });
      }
    },
  );

  it.each([
    '/v1/sequences',
    '/v1/sequences/x',
    '/v1/leases/jflake',
    '/v1/inspect/1',
    '/v1/server',
    '/metrics',
  ])('lets GET %s be read with any token, and not without', async (path) => {
    for (const token of [tokens.mint!, tokens.lease!, tokens.admin!])
      expect([200, 422]).toContain((await server.get(path, { token })).status);
    expect((await server.get(path)).status).toBe(401);
  });

  it.each(['/healthz', '/readyz', '/openapi.json', '/'])('lets anybody read %s', async (path) => {
    expect((await server.get(path)).status).toBe(200);
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer x',
    'Basic dXNlcjpwYXNz',
    `Bearer idsmith_000000000000_${'x'.repeat(43)}`,
    'Bearer idsmith_',
    `Bearer ${'x'.repeat(8000)}`,
  ])('answers 401 to the header %.40j', async (authorization) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const { status, json, headers: answered } = await server.post('/v1/flakes', { headers });
    expect({ status, code: json.code }).toEqual({ status: 401, code: 'UNAUTHORIZED' });
    expect(answered.get('www-authenticate')).toBe('Bearer realm="idsmith"');
  });

  it('does not take a token whose secret is another', async () => {
    const wrong = `${tokens.mint!.slice(0, -1)}${tokens.mint!.endsWith('A') ? 'B' : 'A'}`;
    expect((await server.post('/v1/flakes', { token: wrong })).status).toBe(401);
    expect((await server.post('/v1/flakes', { token: tokens.mint! })).status).toBe(200);
  });

  it('answers 429 when a token calls too often, with the time to wait, and lets it call again then', async () => {
    const token = tokens.limited!;
    const started = performance.now();
    const calls = await Promise.all(Array.from({ length: 100 }, () => server.post('/v1/flakes', { token })));
    const seconds = (performance.now() - started) / 1000;
    const refused = calls.filter(({ status }) => status === 429);
    const allowed = calls.filter(({ status }) => status === 200);
    expect(refused.length + allowed.length).toBe(100);
    expect(refused.length).toBeGreaterThan(0);
    expect(allowed.length).toBeGreaterThanOrEqual(3);
    // Three at once, and three for every second that a busy machine has taken.
    expect(allowed.length).toBeLessThanOrEqual(3 + Math.ceil(3 * seconds));
    expect(refused[0]!.json).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
    expect(Number(refused[0]!.headers.get('retry-after'))).toBe(1);
    // Others are not kept from calling.
    expect((await server.post('/v1/flakes', { token: tokens.mint! })).status).toBe(200);
    await expect
      .poll(async () => (await server.post('/v1/flakes', { token })).status, { interval: 400 })
      .toBe(200);
  });

  it('gives a token no more ids a call than it may have, and fewer blocks instead of many', async () => {
    const file = join(folder, 'live.json');
    const token = await createToken(file, { name: 'small', scopes: ['mint', 'lease'], batch: 10 });
    const call = (path: string) => server.post(path, { token });
    await expect.poll(async () => (await call('/v1/flakes?count=10')).status).toBe(200);
    const { status, json } = await call('/v1/flakes?count=11');
    expect({ status, detail: json.detail }).toEqual({
      status: 422,
      detail: 'count must be at most 10 for this token, not 11',
    });
    expect((await call('/v1/sequences/x/blocks?count=1000')).json.count).toBe(200);
  });

  it('learns of tokens that are made and revoked while it runs, and stays shut when the file is gone', async () => {
    const file = join(folder, 'changing.json');
    await createToken(file, { name: 'first', scopes: ['mint'] });
    const here = await TestServer.start({ tokens: file });
    const token = await createToken(file, { name: 'second', scopes: ['mint'] });
    const status = async () => (await here.post('/v1/flakes', { token })).status;
    await expect.poll(status).toBe(200);
    await revokeToken(file, 'second');
    await expect.poll(status).toBe(401);
    const third = await createToken(file, { name: 'third', scopes: ['mint'] });
    await expect.poll(async () => (await here.post('/v1/flakes', { token: third })).status).toBe(200);
    writeFileSync(file, 'half-wri');
    await expect.poll(() => here.log.join('')).toContain('tokens not read');
    expect((await here.post('/v1/flakes', { token: third })).status).toBe(200);
    rmSync(file);
    await expect.poll(async () => (await here.post('/v1/flakes', { token: third })).status).toBe(401);
    expect((await here.post('/v1/flakes')).status).toBe(401);
    expect(here.log.join('')).not.toContain(third.slice(-43));
    await here.stop();
  });

  it('begins to ask for tokens when the first one is made in the usual file', async () => {
    const here = await startIdsmith('--store', 'memory:');
    const status = async () => (await fetch(`${here.url}/v1/flakes`, { method: 'POST' })).status;
    expect(await status()).toBe(200);
    await createToken(join(here.dir, 'idsmith.tokens.json'), { name: 'first', scopes: ['mint'] });
    await expect.poll(status).toBe(401);
    await here.stop();
  });
});

describe('A file of tokens that was named', () => {
  const absent = join(folder, 'absent.json');
  const sources: [string, Sources][] = [
    ['a flag', { flags: { tokens: absent } }],
    ['a variable', { env: { IDSMITH_TOKENS: absent } }],
    ['a config file', { flags: { config: join(folder, 'named.config.json') } }],
    ['a flag, though it is the usual file', { flags: { tokens: 'idsmith.tokens.json' } }],
  ];

  it.each(sources)('by %s and is not there keeps the server from starting', async (_, given) => {
    writeFileSync(join(folder, 'named.config.json'), JSON.stringify({ tokens: absent }));
    const { tokens } = readSettings(given);
    const failure = TestServer.start({ tokens });
    await expect(failure).rejects.toBeInstanceOf(InvalidOptionError);
    await expect(failure).rejects.toThrow(
      /^tokens: \S+ does not exist: create it with idsmith token create --tokens/,
    );
  });

  it('and cannot be looked at is no open door', async () => {
    // Below a file there is nothing to look at, which is another error than that there is none.
    writeFileSync(join(folder, 'plain'), '');
    for (const tokens of [join(folder, 'plain', 'tokens.json'), folder])
      await expect(TestServer.start({ tokens })).rejects.toThrow(/cannot be read/);
  });

  it('need not be there if it was not named', async () => {
    expect(readSettings({}).tokens).toBe('');
    const running = await startIdsmith('--store', 'memory:');
    expect((await fetch(`${running.url}/v1/flakes`, { method: 'POST' })).status).toBe(200);
    await running.stop();
  });

  it('is none for a server that is told so, which then serves this machine only', async () => {
    const here = await TestServer.start({ tokens: 'none' });
    expect((await here.post('/v1/flakes')).status).toBe(200);
    await here.stop();
    await expect(TestServer.start({ tokens: 'none', host: '0.0.0.0' })).rejects.toThrow('there is no token');
  });

  it('is refused if anybody on the machine can write it, also while the server runs', async () => {
    const file = join(folder, 'open.json');
    const token = await createToken(file, { name: 'one', scopes: ['mint'] });
    chmodSync(file, 0o602);
    const failure = TestServer.start({ tokens: file });
    await expect(failure).rejects.toBeInstanceOf(InvalidOptionError);
    await expect(failure).rejects.toThrow(`tokens: ${file} is writable by everybody: run chmod o-w`);
    chmodSync(file, 0o660);
    const here = await TestServer.start({ tokens: file });
    const forged = await createToken(join(folder, 'forged.json'), { name: 'forged', scopes: ['mint'] });
    chmodSync(file, 0o666);
    writeFileSync(file, readFileSync(join(folder, 'forged.json')));
    await expect.poll(() => here.log.join('')).toContain('is writable by everybody');
    expect((await here.post('/v1/flakes', { token: forged })).status).toBe(401);
    expect((await here.post('/v1/flakes', { token })).status).toBe(200);
    await here.stop();
  });
});
