import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folder, idsmith, Run } from '../support/command.ts';

describe('idsmith serve', () => {
  it('prints where it serves, logs to standard error, and ends with 0 when it is told to', async () => {
    const run = new Run(['serve', '--port', '0']);
    const url = await run.url();
    expect(run.stdout).toMatch(/^idsmith serves at http:\/\/127\.0\.0\.1:\d+\n$/);
    expect(url).not.toMatch(/:0$/);
    const { ids } = await (await fetch(`${url}/v1/flakes?count=3`, { method: 'POST' })).json();
    expect(ids).toHaveLength(3);
    // The other commands take it for a store.
    expect(await idsmith(['seq', 'define', 'orders', '--start', '10001', '--store', url])).toMatchObject({
      code: 0,
    });
    expect((await idsmith(['seq', 'next', 'orders', '-n', '2', '--store', url])).stdout).toBe(
      '10001\n10002\n',
    );
    run.child.kill('SIGTERM');
    const { code, stdout, stderr } = await run.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: `idsmith serves at ${url}\n` });
    for (const line of stderr.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('event');
  });

  it('takes settings from flags, variables and the file in its folder, and answers as JSON', async () => {
    const home = mkdtempSync(join(folder, 'home-'));
    writeFileSync(join(home, 'idsmith.config.json'), '{"layout": "safe53", "port": 1, "store": "memory:"}');
    const run = new Run(['serve', '--json'], { IDSMITH_PORT: '0', IDSMITH_LOG: 'silent' }, home);
    await run.url();
    const { url } = JSON.parse(run.stdout);
    expect(await (await fetch(`${url}/v1/server`)).json()).toMatchObject({ layout: 'safe53' });
    run.child.kill('SIGINT');
    expect(await run.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('warns of a variable that is no setting', async () => {
    const run = new Run(['serve', '--port', '0', '--store', 'memory:'], {
      IDSMITH_TOKNES: 'tokens.json',
      IDSMITH_LOG: 'error',
    });
    await run.url();
    run.child.kill('SIGTERM');
    const { code, stderr } = await run.ended;
    expect({ code, ...JSON.parse(stderr) }).toMatchObject({
      code: 0,
      level: 'warn',
      message: expect.stringContaining('did you mean "IDSMITH_TOKENS"?'),
    });
  });

  it('goes on when nobody reads what it says any more', async () => {
    const run = new Run(['serve', '--port', '0', '--log', 'requests', '--store', 'memory:']);
    const url = await run.url();
    run.child.stdout.destroy();
    run.child.stderr.destroy();
    for (let i = 0; i < 20; i++)
      expect((await fetch(`${url}/v1/flakes`, { method: 'POST' })).status).toBe(200);
    run.child.kill('SIGTERM');
    expect((await run.ended).code).toBe(0);
  });

  it('ends at once at the second signal, whoever is still connected', async () => {
    const run = new Run(['serve', '--port', '0', '--grace', '60000']);
    const { port } = new URL(await run.url());
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    // The server has read both requests, of which the second is not complete, when it answers the first.
    socket.write(
      'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n' +
        'POST /v1/sequences HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    );
    await once(socket, 'data');
    await expect.poll(() => run.stderr).toContain('listening');
    run.child.kill('SIGTERM');
    // It accepts nobody new, and waits for the one that is there.
    const refused = () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        () => false,
        () => true,
      );
    await expect.poll(refused).toBe(true);
    expect(run.child.exitCode).toBeNull();
    run.child.kill('SIGTERM');
    expect((await run.ended).code).toBe(143);
    socket.destroy();
  });

  it.each<[string, string[], Record<string, string>, RegExp]>([
    [
      'a flag',
      ['--port', '99999'],
      {},
      /^idsmith: --port must be a whole number from 0 to 65535, not "99999"\n$/,
    ],
    ['a variable', [], { IDSMITH_GRACE: 'x' }, /^idsmith: IDSMITH_GRACE must be a whole number/],
    ['a store', ['--store', 'nonsense:'], {}, /^idsmith: store: url must start with one of/],
    [
      'a host',
      ['--host', '0.0.0.0', '--store', 'memory:'],
      {},
      /^idsmith: host 0\.0\.0\.0 can be reached from other machines, and there is no token/,
    ],
    [
      'a file of tokens',
      ['--tokens', 'nowhere.json', '--store', 'memory:'],
      {},
      /^idsmith: tokens: nowhere\.json does not exist: create it with idsmith token create --tokens nowhere\.json/,
    ],
    ['an argument', ['surplus'], {}, /^idsmith: serve takes no "surplus"/],
    [
      'a flag that is not there',
      ['--prot', '1'],
      {},
      /^idsmith: serve takes no --prot; did you mean --port\?/,
    ],
  ])('does not start with %s that is wrong, and says so in one sentence', async (_, args, env, message) => {
    const { code, stdout, stderr } = await idsmith(['serve', ...args], env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });

  it('does not start on a port that is taken, and names the address and --port', async () => {
    const first = new Run(['serve', '--port', '0', '--store', 'memory:']);
    const { host, port } = new URL(await first.url());
    const { code, stdout, stderr } = await idsmith(['serve', '--port', port, '--store', 'memory:']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^idsmith: another process listens on ${host}: .*--port`, 'm'));
    first.child.kill('SIGTERM');
    expect((await first.ended).code).toBe(0);
  });

  it('does not start where its database cannot be, and says why', async () => {
    const missing = await idsmith(['serve', '--store', 'sqlite:./nowhere/ids.db']);
    expect(missing).toMatchObject({ code: 1, stdout: '' });
    expect(missing.stderr).toMatch(/^idsmith: store: the folder .*nowhere does not exist/);
  });

  it('does not start without its store, and shows no password', async () => {
    const { code, stdout, stderr } = await idsmith([
      'serve',
      '--store',
      'postgres://u:hunter2@127.0.0.1:1/db',
    ]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('ECONNREFUSED');
    expect(stderr).not.toContain('hunter2');
  });
});
