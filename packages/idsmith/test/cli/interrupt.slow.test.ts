import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { describeWith, startRedis } from '#services';
import { openStore } from '../../src/stores/open.ts';
import { repeated } from '../support/unique.ts';
import { bin, idsmith, RunningCommand } from './run.ts';

const folder = mkdtempSync(join(tmpdir(), 'idsmith-cli-interrupt-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const url = `sqlite:${join(folder, 'ids.db')}`;

/** The node ids of a namespace that somebody holds. */
async function heldIn(storeUrl: string, namespace: string): Promise<number[]> {
  const store = await openStore(storeUrl);
  try {
    const records = await store.listLeases(namespace);
    return records.filter(({ id, owner }) => id >= 0 && owner !== null).map(({ id }) => id);
  } finally {
    await store.close();
  }
}

await describeWith(['redis'], 'A wait for an empty namespace of a store that can forget', () => {
  let server: Awaited<ReturnType<typeof startRedis>>;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());

  it('is told with its length and reason, and ends with 130 at Ctrl-C and nothing held', async () => {
    const run = new RunningCommand('flake', '--store', server.url, '--verbose');
    await run.says('stderr', 'waiting 5');
    expect(run.stderr).toMatch(
      /^idsmith: waiting 5\d s for a node id of namespace "jflake": the store can lose its data/m,
    );
    expect(await run.stop('SIGINT')).toBe(130);
    expect(run.stdout).toBe('');
    expect(await heldIn(server.url, 'jflake')).toEqual([]);
  });

  it('is JSON with --json, and 143 at SIGTERM', async () => {
    const run = new RunningCommand(
      'flake',
      '--store',
      server.url,
      '--namespace',
      'two',
      '--verbose',
      '--json',
    );
    // The store has begun to wait with the first namespace.
    await run.says('stderr', 'waiting');
    await run.says('stderr', 'namespace "two"');
    expect(await run.stop('SIGTERM')).toBe(143);
    expect(JSON.parse(run.stdout)).toEqual({ ids: [], error: { code: 'INTERRUPTED', message: '' } });
    expect(await heldIn(server.url, 'two')).toEqual([]);
  });
});

describe('Ctrl-C', () => {
  it('stops the minting of flakes between two ids, and releases the node id', async () => {
    const run = new RunningCommand('flake', '-n', '999999999999', '--store', url);
    await run.says('stdout', '\n');
    expect(await heldIn(url, 'jflake')).toEqual([0]);
    expect(await run.stop('SIGINT')).toBe(130);
    expect(await heldIn(url, 'jflake')).toEqual([]);
    const lines = run.stdout.split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.every((line) => /^\d{19}$/.test(line))).toBe(true);
    expect(repeated(lines)).toEqual([]);
    expect(run.stderr).toBe('');
  });

  it('stops a draw with valid JSON, and gives back what was not printed', async () => {
    idsmith('seq', 'define', 'orders', '--block-size', '50', '--store', url);
    const run = new RunningCommand('seq', 'next', 'orders', '-n', '999999999999', '--store', url, '--json');
    await run.says('stdout', '"1"');
    expect(await run.stop('SIGINT')).toBe(130);
    const { ids, error } = JSON.parse(run.stdout);
    expect(error.code).toBe('INTERRUPTED');
    expect(ids).toEqual(Array.from({ length: ids.length }, (_, i) => String(i + 1)));
    expect(idsmith('seq', 'next', 'orders', '--store', url).lines).toEqual([String(ids.length + 1)]);
  });

  it('also reaches a command whose output never waits', async () => {
    // Writes to /dev/null return at once, so that the command makes ids without a pause.
    const args = ['locality', '-n', '999999999999', '--verbose'];
    const child = spawn(process.execPath, [bin, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'close');
    await once(child.stderr, 'data');
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
  });

  it('ends the reading of standard input at once, with what was read so far', async () => {
    const run = new RunningCommand('inspect', '--json');
    const ids = Array.from({ length: 1000 }, () => '1jyVFw3401');
    run.child.stdin.write(`${ids.join('\n')}\n`);
    await run.says('stdout', '1jyVFw3401');
    expect(await run.stop('SIGINT')).toBe(130);
    const found = JSON.parse(run.stdout);
    expect(found.pop()).toMatchObject({ error: { code: 'INTERRUPTED' } });
    expect(found).toEqual(found.map(() => expect.objectContaining({ id: '1jyVFw3401' })));
  });

  it('ends a command at once when it is pressed again, whatever a store does', async () => {
    // A store that never answers.
    const silent = createServer((socket) => socket.on('error', () => {}));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const run = new RunningCommand(
      ...['seq', 'list', '--verbose', '--store', `postgres://u:hunter2@127.0.0.1:${port}/db`],
    );
    await once(silent, 'connection');
    run.child.kill('SIGINT');
    await run.says('stderr', 'stopping');
    expect(await run.stop('SIGINT')).toBe(130);
    expect(run.stderr).toContain(`waiting for the store postgres://127.0.0.1:${port}/db\n`);
    expect(run.stderr).not.toContain('hunter2');
    silent.close();
  });
});
