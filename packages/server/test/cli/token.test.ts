import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folder, idsmith, Run } from '../support/command.ts';
import { TestServer } from '../support/server.ts';

describe('idsmith token', () => {
  const home = mkdtempSync(join(folder, 'tokens-'));
  const file = join(home, 'idsmith.tokens.json');
  const token = (...args: string[]) => idsmith(['token', ...args], { IDSMITH_TOKENS: file });

  it('prints a token once, which a server then takes; lists and revokes it', async () => {
    // As a user runs it: in a folder, without the name of the file.
    const create = ['token', 'create', '--scope', 'mint,lease', '--name', 'ci'];
    const made = await new Run(create, {}, home).ended;
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toMatch(/^idsmith_[0-9a-f]{12}_[\w-]{43}\n$/);
    const secret = made.stdout.trim();
    const server = await TestServer.start({ tokens: file });
    const mint = async () => (await server.post('/v1/flakes', { token: secret })).status;
    expect(await mint()).toBe(200);
    const listed = await token('list', '--json');
    expect(JSON.parse(listed.stdout).tokens).toMatchObject([{ name: 'ci', scopes: ['mint', 'lease'] }]);
    expect(listed.stdout).not.toContain('hash');
    expect((await token('list')).stdout).toMatch(
      /^id +name +scopes +rate +batch +created +expires\n[0-9a-f]{12} +ci +mint,lease /,
    );
    expect(await token('revoke', 'ci')).toEqual({ code: 0, stdout: '', stderr: '' });
    await expect.poll(mint).toBe(401);
    await server.stop();
    expect(server.log.join('')).not.toContain(secret.slice(-43));
  });

  it('says that there are no tokens, and how to make one', async () => {
    const empty = mkdtempSync(join(folder, 'no-tokens-'));
    const { code, stdout, stderr } = await new Run(['token', 'list'], {}, empty).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^there are no tokens in idsmith\.tokens\.json: idsmith token create --scope mint,lease --name ci makes one\n$/,
    );
  });

  it.each([
    [[]],
    [['nonsense']],
    [['create']],
    [['create', '--scope', 'mint']],
    [['create', '--scope', 'root', '--name', 'x']],
    [['create', '--scope', 'mint', '--name', 'x', '--rate', '-1']],
    [['revoke']],
    [['revoke', 'nobody']],
    [['list', '--tokens', 'nowhere.json']],
    [['list', '--tokens', 'none']],
  ])('of %j exits with 2 and makes nothing', async (args) => {
    const { code, stdout, stderr } = await token(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^idsmith: /);
  });
});
