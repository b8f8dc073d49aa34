import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidOptionError, StoreError } from 'idsmith';
import { afterAll, describe, expect, it } from 'vitest';
import { createToken, listTokens, revokeToken } from '../../src/index.ts';
import { TestServer } from '../support/server.ts';

const folder = mkdtempSync(join(tmpdir(), 'idsmith-tokens-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('The file of tokens', () => {
  const file = join(folder, 'kept', 'tokens.json');

  it('keeps the hash of a token and not the token, for the owner of the file only', async () => {
    const token = await createToken(file, { name: 'ci', scopes: ['lease', 'mint'] });
    const [, id, secret] = /^idsmith_([0-9a-f]{12})_([\w-]{43})$/.exec(token) as unknown as string[];
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain(secret);
    expect(statSync(file).mode & 0o077).toBe(0);
    expect(await listTokens(file)).toMatchObject([{ id, name: 'ci', scopes: ['mint', 'lease'] }]);
  });

  it('loses none of many that are made at once', async () => {
    const many = join(folder, 'many.json');
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, i) => createToken(many, { name: `t${i}`, scopes: ['mint'] })),
    );
    expect(new Set(tokens).size).toBe(20);
    expect(await listTokens(many)).toHaveLength(20);
    expect(existsSync(`${many}.lock`)).toBe(false);
  });

  it('forgets what is revoked, by name or by id', async () => {
    const revoked = join(folder, 'revoked.json');
    for (const name of ['a', 'b', 'c']) await createToken(revoked, { name, scopes: ['admin'] });
    await revokeToken(revoked, 'a');
    await revokeToken(revoked, (await listTokens(revoked))![0]!.id);
    expect((await listTokens(revoked))?.map(({ name }) => name)).toEqual(['c']);
    await expect(revokeToken(revoked, 'a')).rejects.toThrow('has no token "a"');
  });

  it.each([
    [{ name: '', scopes: ['mint'] }, /^name must be 1 to 100 letters/],
    [{ name: 'x', scopes: [] }, /scope must be one or more of mint, lease, admin/],
    [{ name: 'x', scopes: ['root'] }, /not "root"/],
    [{ name: 'x', scopes: ['mint'], rate: -1 }, /rate must be/],
    [{ name: 'x', scopes: ['mint'], batch: 0 }, /batch must be/],
    [{ name: 'ci', scopes: ['mint'] }, /already has a token "ci"/],
    [{ name: 'x', scopes: ['mint'], bacth: 5 }, /unknown name "bacth"; did you mean "batch"\?/],
  ])('refuses %j', async (options, message) => {
    const failure = createToken(file, options as never);
    await expect(failure).rejects.toBeInstanceOf(InvalidOptionError);
    await expect(failure).rejects.toThrow(message);
  });

  it.each(['', '{', '[]', '{"tokens":{}}', '{"tokens":[{"id":"x"}]}'])('is not %j', async (text) => {
    const wrong = join(folder, 'wrong.json');
    writeFileSync(wrong, text);
    await expect(listTokens(wrong)).rejects.toBeInstanceOf(InvalidOptionError);
    await expect(TestServer.prepare({ tokens: wrong })).rejects.toThrow('is not a token file');
  });

  it('is UTF-8, so that no name is read as another', async () => {
    const wrong = join(folder, 'latin1.json');
    writeFileSync(wrong, Buffer.from('{"tokens":[],\n"of":"Ren\u00e9"}', 'latin1'));
    await expect(listTokens(wrong)).rejects.toBeInstanceOf(InvalidOptionError);
    await expect(listTokens(wrong)).rejects.toThrow('latin1.json, line 2: not UTF-8');
  });

  it('is not changed while another command changes it', async () => {
    const busy = join(folder, 'busy.json');
    writeFileSync(`${busy}.lock`, '');
    const failure = createToken(busy, { name: 'x', scopes: ['mint'] });
    await expect(failure).rejects.toBeInstanceOf(StoreError);
  });
});
