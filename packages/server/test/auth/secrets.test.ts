import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { readSecrets } from '../../src/auth/secrets.ts';
import { createToken, listTokens, readExpiry } from '../../src/auth/tokens.ts';
import { TestServer } from '../support/server.ts';

const folder = mkdtempSync(join(tmpdir(), 'idsmith-secrets-'));
const SECRET = 'a-secret-of-forty-three-characters-00000000';
const OTHER = 'b-secret-of-forty-three-characters-00000000';
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const messageOf = (call: () => unknown): string => {
  try {
    call();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it did not fail');
};

const statusOf = async (server: TestServer, token: string, path = '/v1/flakes') =>
  (await server.post(path, { token })).status;

describe('secrets', () => {
  it('are tokens with a name and scopes, from a file that may change', async () => {
    const file = join(folder, 'secrets');
    writeFileSync(file, `# rotated in March\nci mint,lease ${SECRET}\n`);
    const server = await TestServer.prepare({ secrets: file });
    expect(await statusOf(server, SECRET)).toBe(200);
    expect(await statusOf(server, OTHER)).toBe(401);
    expect((await server.post('/v1/sequences', { token: SECRET, body: { name: 'a' } })).status).toBe(403);
    expect((await server.get('/v1/server', { token: SECRET })).json).toMatchObject({
      scopes: ['mint', 'lease'],
      token: { name: 'ci', expires: null },
    });
    // Both secrets work while the new one is rolled out.
    writeFileSync(file, `ci mint ${SECRET}\nci mint ${OTHER}\n`);
    await expect.poll(() => statusOf(server, OTHER)).toBe(200);
    expect(await statusOf(server, SECRET)).toBe(200);
    await server.stop();
  });

  it('come from a variable, beside the tokens of a file', async () => {
    vi.stubEnv('IDS_SECRETS', `web mint ${SECRET}`);
    const tokens = join(folder, 'tokens.json');
    const token = await createToken(tokens, { name: 'all', scopes: ['mint'] });
    const server = await TestServer.prepare({ secrets: 'env:IDS_SECRETS', tokens });
    expect([await statusOf(server, SECRET), await statusOf(server, token)]).toEqual([200, 200]);
    await server.stop();
  });

  it('are refused by line, and never shown', () => {
    const read = (text: string) => () => readSecrets(text, 'the file');
    expect(read('\n# nothing\n')).toThrow(/the file has no token/);
    expect(read('ci mint short')).toThrow(/line 1 of the file needs a secret of at least 32 characters/);
    expect(read(`\nci paint ${SECRET}`)).toThrow(
      /line 2 of the file must name one or more of mint, lease, admin/,
    );
    expect(read(`ci mint ${SECRET} never`)).toThrow(
      /must end with the secret, or with a day such as 2027-01-31/,
    );
    expect(read(`ci mint ${SECRET} 90d more`)).toThrow(/more words/);
    expect(read(`ci mint ${'a'.repeat(32)}`)).toThrow(/can be guessed/);
    for (const text of [
      `ci paint ${SECRET}`,
      `ci mint ${SECRET} x`,
      `c!i mint ${SECRET}`,
      `ci mint ${OTHER} ${SECRET}`,
    ])
      expect(messageOf(read(text))).not.toContain(SECRET);
  });

  it('are none in a comment, also after a semicolon', () => {
    const records = readSecrets(
      `# until May: old mint ${OTHER}; older mint ${OTHER}\nci mint ${SECRET}`,
      'it',
    );
    expect(records.map(({ name }) => name)).toEqual(['ci']);
  });

  it('are not shown when they stand where their file or variable belongs', async () => {
    for (const secrets of [`web mint ${SECRET}`, SECRET, `env:web mint ${SECRET}`, `env:${SECRET}`]) {
      const failure = await TestServer.prepare({ secrets }).catch((error) => error);
      expect(failure).toBeInstanceOf(Error);
      expect(inspect(failure, { depth: 9 }), secrets.replace(SECRET, '…')).not.toContain(SECRET);
    }
  });

  it('of public ids are not shown when they stand where their file belongs', async () => {
    const publicIds = `{"ord":{"keys":{"1":"${SECRET}"}}}`;
    const failure = await TestServer.prepare({ publicIds }).catch((error) => error);
    expect(failure.message).toContain('give the path of a file');
    expect(inspect(failure, { depth: 9 })).not.toContain(SECRET);
  });

  it('that are not there stop the start', async () => {
    await expect(TestServer.prepare({ secrets: join(folder, 'none') })).rejects.toThrow(/secrets/);
    await expect(TestServer.prepare({ secrets: 'env:IDS_NONE' })).rejects.toThrow(
      /the variable IDS_NONE is not set/,
    );
  });
});

describe('the end of a token', () => {
  it('is a day, a time, or hours and days from now', () => {
    expect(readExpiry('12h', 0)).toBe('1970-01-01T12:00:00.000Z');
    expect(readExpiry('90d', 0)).toBe('1970-04-01T00:00:00.000Z');
    expect(readExpiry('2027-01-31', 0)).toBe('2027-01-31T00:00:00.000Z');
    for (const wrong of ['', 'soon', '1', '31.1.2027', '2027-13-01', '2027-02-30'])
      expect(() => readExpiry(wrong, 0)).toThrow(/90d/);
  });

  it('is kept in the file, and refuses the token from then on', async () => {
    const tokens = join(folder, 'ending.json');
    const token = await createToken(tokens, {
      name: 'short',
      scopes: ['mint'],
      expires: new Date(Date.now() + 3_600_000).toISOString(),
    });
    await createToken(tokens, { name: 'long', scopes: ['mint'] });
    expect((await listTokens(tokens))?.[0]?.expires).toBeDefined();
    const server = await TestServer.prepare({ tokens });
    expect(await statusOf(server, token)).toBe(200);
    vi.useFakeTimers({ now: Date.now() + 7_200_000, toFake: ['Date'] });
    const refused = await server.post('/v1/flakes', { token });
    vi.useRealTimers();
    expect(refused).toMatchObject({
      status: 401,
      json: { detail: expect.stringMatching(/^this token has expired at /) },
    });
    await server.stop();
    await expect(
      createToken(tokens, { name: 'past', scopes: ['mint'], expires: '2020-01-01' }),
    ).rejects.toThrow(/expires must be a time in the future/);
  });
});
