import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reshard, type ShardConfig, ShardMap } from '@idsmith/shard';
import { ProgressBar } from 'idsmith/internal/cli';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeWith } from '#services';
import { idsmith } from '../../../idsmith/test/cli/in-process.ts';
import { bin } from '../../../idsmith/test/cli/run.ts';
import { showProgress } from '../../src/cli/reshard.ts';
import { ringOf, type Shards, startShards } from '../start-shards.ts';

const PASSWORD = 'opensesame123';
const KEYS = 2000;
/** Keys per second: so few that a busy machine has time to stop the command in the middle. */
const SLOW = '60';

await describeWith(['redis'], 'idsmith reshard', () => {
  let shards: Shards;
  let folder: string;
  let clients: Redis[];
  let files: [string, string];
  let leaving: number;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'idsmith-reshard-'));
    shards = await startShards([1, 1, 1], {}, { args: ['--requirepass', PASSWORD] });
    clients = shards.servers.map(({ port }) => new Redis(port, { password: PASSWORD }).on('error', () => {}));
    files = [
      file('two.json', { ...shards.config, ...ringOf(shards.servers.slice(0, 2)) }),
      file('three.json', shards.config),
    ];
  });
  beforeEach(async () => {
    await Promise.all(clients.map((client) => client.flushall()));
    const auth = { password: PASSWORD };
    const config = { ...shards.config, auth };
    const from = new ShardMap({ ...config, ...ringOf(shards.servers.slice(0, 2)) });
    const to = new ShardMap(config);
    const keys = Array.from({ length: KEYS }, (_, i) => from.fixedKey(1_000_000 + i, i, 2));
    await Promise.all(keys.map((key) => from.getClient(key).set(key, key)));
    leaving = keys.filter((key) => from.whereIs(key) !== to.whereIs(key)).length;
    await Promise.all([from.close(), to.close()]);
  });
  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await shards?.stop();
    rmSync(folder, { recursive: true });
  });

  function file(name: string, config: ShardConfig): string {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify({ ...config, auth: { password: PASSWORD } }));
    return path;
  }

  const args = (...more: string[]) => ['reshard', '--from', files[0], '--to', files[1], ...more];
  const number = (value: number) => value.toLocaleString('en');
  const sizes = () => Promise.all(clients.map((client) => client.dbsize()));

  it('prints the plan and moves nothing in a dry run', async () => {
    const before = await sizes();
    const { status, lines, stderr } = await idsmith(...args('--dry-run'));
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(lines[0]).toMatch(/^from +to +keys +bytes$/);
    const target = `127.0.0.1:${shards.servers[2]!.port}`;
    expect(lines[1]).toMatch(
      new RegExp(`^0 \\(127\\.0\\.0\\.1:\\d+\\) +2 \\(${target}\\) +[\\d,]+ +[\\d,]+$`),
    );
    expect(lines.at(-2)).toMatch(new RegExp(`^all +${number(leaving)} +[\\d,]+$`));
    expect(lines.at(-1)).toBe(`${number(KEYS - leaving)} keys stay`);
    expect(JSON.parse((await idsmith(...args('--dry-run', '--json'))).stdout)).toMatchObject({
      keys: leaving,
      stay: KEYS - leaving,
      skipped: 0,
    });
    expect(await sizes()).toEqual(before);
  });

  it('moves keys, prints what it has moved, and plain lines of progress where there is no terminal', async () => {
    const { status, lines, stderr } = await idsmith(...args('--batch', '50'));
    expect(status).toBe(0);
    expect(lines.at(-1)).toMatch(new RegExp(`^all +${number(leaving)} +[\\d,]+$`));
    expect(stderr).toMatch(/^idsmith: [\d,]+ keys moved(, [1-9][\d,]* a second)?, .+ left$/m);
    expect(stderr).toMatch(new RegExp(`^idsmith: ${number(leaving)} keys moved in \\d+ s$`, 'm'));
    expect(stderr).not.toContain('\r');
    const again = JSON.parse((await idsmith(...args('--json'))).stdout);
    expect(again).toMatchObject({ moved: 0, bytes: 0, pairs: [], skipped: 0, superseded: 0, lapsed: 0 });
    expect(await clients[2]!.dbsize()).toBe(leaving + 2);
  });

  it('stops on Ctrl-C between two batches, says how to continue, and continues', async () => {
    const child = spawn(process.execPath, [bin, ...args('--rate', SLOW)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [first] = await once(child.stderr, 'data');
    let stderr = String(first);
    child.stderr.on('data', (chunk) => {
      stderr += String(chunk);
    });
    child.kill('SIGINT');
    const [code] = await once(child, 'close');
    expect(code).toBe(130);
    expect(stderr).toMatch(
      /^idsmith: stopped: [\d,]+ keys were moved so far; run the same command again to continue$/m,
    );
    const { moved } = JSON.parse((await idsmith(...args('--json'))).stdout);
    expect(moved).toBeGreaterThan(0);
    expect(moved).toBeLessThan(leaving);
    expect(await clients[2]!.dbsize()).toBe(leaving + 2);
  });

  it('gives a resharding up with --abort, and lists foreign keys in a dry run', async () => {
    await clients[0]!.set('heartbeat', 'x');
    const dry = await idsmith(...args('--dry-run'));
    expect(dry.lines.slice(-3)).toEqual([
      `${number(KEYS - leaving)} keys stay, 1 others are left alone`,
      'left alone: "heartbeat"',
      'types that are not in keyTypes: 2287 (1 keys). If such keys are yours, give --types',
    ]);
    const child = spawn(process.execPath, [bin, ...args('--rate', SLOW)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await once(child.stderr, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');
    const { status, lines, stderr } = await idsmith(...args('--abort'));
    expect(status).toBe(0);
    expect(stderr).toMatch(/^idsmith: [\d,]+ keys moved back in \d+ s$/m);
    expect(await clients[2]!.dbsize()).toBe(2);
    // Keys went back from the new node to the old ones, each by its own name and address.
    const place = (index: number) => `${index} (127.0.0.1:${shards.servers[index]!.port})`;
    const pairs = lines.slice(1, -1).map((line) => line.split(/ {2,}/).slice(0, 2));
    expect(pairs.length).toBeGreaterThan(0);
    for (const pair of pairs) expect([0, 1].map((old) => [place(2), place(old)])).toContainEqual(pair);
    const wrong = await idsmith(...args('--abort', '--dry-run'));
    expect(wrong).toMatchObject({ status: 2 });
    expect(await idsmith(...args('--gone', 'nobody:1'))).toMatchObject({ status: 2 });
    for (const flag of [['--types', '7'], ['--all-keys'], ['--accept-no-abort']])
      expect(await idsmith(...args('--abort', ...flag))).toMatchObject({
        status: 2,
        stderr: expect.stringContaining(
          `--abort does not take ${flag[0]}: the nodes know which keys were moved`,
        ),
      });
  });

  it('fails in one sentence that names the node, without the password', async () => {
    await shards.servers[2]!.shutdown();
    for (const more of [[], ['--dry-run'], ['--json']]) {
      const { status, stdout, stderr } = await idsmith(...args(...more));
      expect(status).toBe(1);
      if (more.includes('--json')) expect(JSON.parse(stdout).error.code).toBe('STORE');
      else expect(stdout).toBe('');
      expect(stdout).not.toContain(PASSWORD);
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
      expect(stderr).toContain(`idsmith: node 127.0.0.1:${shards.servers[2]!.port}: `);
      expect(stderr).not.toContain(PASSWORD);
      expect(stderr).not.toContain('to continue');
    }
    await shards.servers[2]!.start();
    const wrong = join(folder, 'wrong.json');
    const two = { ...shards.config, ...ringOf(shards.servers.slice(0, 2)) };
    writeFileSync(wrong, JSON.stringify({ ...two, auth: { password: 'not-the-secret' } }));
    const refused = await idsmith('reshard', '--from', wrong, '--to', files[1]);
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).not.toMatch(/not-the-secret|opensesame|to continue/);
  });

  it('advises to continue only what has begun, and not with a config that does not fit the nodes', async () => {
    const child = spawn(process.execPath, [bin, ...args('--rate', SLOW)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await once(child.stderr, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');
    const other = file('other.json', {
      ...shards.config,
      ...ringOf([...shards.servers].reverse()),
    });
    const wrong = await idsmith('reshard', '--from', files[0], '--to', other);
    expect(wrong).toMatchObject({ status: 1, stdout: '' });
    expect(wrong.stderr).toContain('another resharding is not finished');
    expect(wrong.stderr).not.toContain('to continue');
    const same = await idsmith('reshard', '--from', files[1], '--to', files[1]);
    expect(same).toMatchObject({ status: 2, stdout: '' });
    expect(same.stderr).toContain('from and to have the same nodes');
  });

  it('says after an abort that old nodes have kept the values of keys that had not left them', async () => {
    const config = { ...shards.config, auth: { password: PASSWORD } };
    const maps = [
      new ShardMap({ ...config, ...ringOf(shards.servers.slice(0, 2)) }),
      new ShardMap(config),
    ] as const;
    const afterStep = (step: string) => {
      if (step === 'put') throw new Error('killed');
    };
    await expect(reshard(...maps, { batch: 10, afterStep } as object)).rejects.toThrow('killed');
    await Promise.all(maps.map((map) => map.close()));
    const { status, stderr } = await idsmith(...args('--abort'));
    expect(status).toBe(0);
    expect(stderr).toMatch(
      /^idsmith: \d+ copies on new nodes were dropped: the old nodes still had the values$/m,
    );
    expect(stderr).not.toContain('values of old nodes were dropped');
    expect(await clients[2]!.dbsize()).toBe(2);
  });

  it('refuses a node that removes keys, by name, and moves keys there if that is accepted', async () => {
    await clients[2]!.config('SET', 'maxmemory', '1gb');
    await clients[2]!.config('SET', 'maxmemory-policy', 'allkeys-lru');
    for (const more of [[], ['--dry-run']]) {
      const { status, stderr } = await idsmith(...args(...more));
      expect(status).toBe(1);
      expect(stderr).toContain('maxmemory-policy allkeys-lru');
      expect(stderr).toContain('--accept-evicting-target');
      expect(stderr).not.toContain('to continue');
    }
    expect(await clients[2]!.dbsize()).toBe(0);
    expect(await idsmith(...args('--accept-evicting-target', '--accept-no-abort'))).toMatchObject({
      status: 0,
    });
    expect(await clients[2]!.dbsize()).toBe(leaving + 2);
    await clients[2]!.config('SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '0');
  });
});

describe('idsmith reshard, called wrongly', () => {
  it.each([
    [[], '--from is required'],
    [['--from', 'a.json'], 'cannot be read'],
    [['--from', 'a.json', '--to', 'b.json', 'c.json'], 'reshard takes no "c.json"'],
    [['--frm', 'a.json'], '--frm'],
  ])('%j is wrong usage', async (args, message) => {
    const { status, stdout, stderr } = await idsmith('reshard', ...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('The progress of a resharding', () => {
  const progress = { moved: 1234, bytes: 0, scanned: 3000, total: 6000, seconds: 10, rate: 4321.4, left: 75 };

  function shown(isTTY: boolean, columns?: number): string {
    let text = '';
    const bar = new ProgressBar({
      isTTY,
      ...(columns !== undefined && { columns }),
      write: (more) => (text += more),
    });
    showProgress(bar, progress);
    showProgress(bar, { ...progress, moved: 2000 });
    bar.end();
    return text;
  }

  it('is a bar with rate and time left on a terminal, gone at the end', () => {
    const clear = '\r\u001B[2K';
    expect(shown(true, 120)).toBe(
      `${clear}[############------------]  50 %  1,234 keys moved, 4,321 a second, 1 min 15 s left${clear}`,
    );
    expect(shown(true, 40)).toBe(`${clear}[############------------]  50 %  1,234${clear}`);
    expect(shown(true, 0)).toContain('1,234 keys moved');
  });

  it('has a rate only when the rate is known', () => {
    const lines: string[] = [];
    const bar = new ProgressBar({ isTTY: false, write: (line: string) => lines.push(line) });
    showProgress(bar, { ...progress, rate: 0 });
    expect(lines).toEqual(['idsmith: 1,234 keys moved, 1 min 15 s left\n']);
  });

  it('is a plain line now and then elsewhere', () => {
    expect(shown(false)).toBe('idsmith: 1,234 keys moved, 4,321 a second, 1 min 15 s left\n');
  });
});
