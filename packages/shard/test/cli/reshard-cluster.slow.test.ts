import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ShardMap } from '@idsmith/shard';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeWith } from '#services';
import { bin, idsmith } from '../../../idsmith/test/cli/run.ts';
import { RingAndCluster } from '../reshard/ring-and-cluster.ts';

const PASSWORD = 'opensesame123';
const KEYS = 600;

const folder = mkdtempSync(join(tmpdir(), 'idsmith-reshard-cluster-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, config: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(config));
  return path;
}

await describeWith(['redis'], 'idsmith reshard to a Redis Cluster', () => {
  let both: RingAndCluster;
  let files: [ring: string, cluster: string, withoutTakesOver: string];

  beforeAll(async () => {
    both = await RingAndCluster.start();
    for (const master of both.cluster.masters)
      await master.command('ACL', 'SETUSER', 'mover', 'on', `>${PASSWORD}`, '~*', '+@all');
    const { options } = both.ring.config;
    // One node is enough to find the others.
    const nodes = [`redis://mover:${PASSWORD}@127.0.0.1:${both.cluster.masters[1]!.port}`];
    files = [
      file('ring.json', both.ring.config),
      file('cluster.json', { cluster: { nodes }, hashTags: true, takesOver: true, options }),
      file('new.json', { cluster: { nodes }, hashTags: true, options }),
    ];
  });
  beforeEach(async () => {
    await both.empty();
    const [from] = both.maps();
    const keys = Array.from({ length: KEYS / 2 }, (_, i) => from.fixedKey(1_000_000 + i, i, 2));
    await Promise.all(
      keys.map((key) => from.getClient(key).multi().set(key, key).set(`${key}-part`, 'part').exec()),
    );
  });
  afterAll(() => both?.stop());

  const args = (...more: string[]) => ['reshard', '--from', files[0], '--to', files[1], ...more];
  const inRing = async () =>
    (await both.keysOf(both.ring.servers)).filter((key) => !/^[$i]/.test(key)).length;
  const inCluster = async () =>
    (await both.keysOf(both.cluster.masters)).filter((key) => /^(\{\w+\}-part|\w+)$/.test(key)).length;

  /** Runs the command, and kills it with -9 when it tells of progress and so many keys are in the cluster. */
  async function kill(moved: number, ...more: string[]): Promise<void> {
    const child = spawn(process.execPath, [bin, ...args(...more)], { stdio: ['ignore', 'ignore', 'pipe'] });
    await once(child.stderr, 'data');
    await expect.poll(inCluster).toBeGreaterThanOrEqual(moved);
    child.kill('SIGKILL');
    const [, signal] = await once(child, 'close');
    expect(signal).toBe('SIGKILL');
  }

  it('counts, moves, is killed and continues', async () => {
    const dry = idsmith(...args('--dry-run'));
    expect({ status: dry.status, stderr: dry.stderr }).toEqual({ status: 0, stderr: '' });
    expect(dry.lines[1]).toMatch(/^0 \(127\.0\.0\.1:\d+\) +cluster +\d+ +[\d,]+$/);
    expect(dry.lines.at(-2)).toMatch(/^all +600 /);
    expect(await inCluster()).toBe(0);
    await kill(1, '--rate', '60');
    expect(await inRing()).toBeGreaterThan(0);
    expect(await inCluster()).toBeGreaterThan(0);
    const { status, stdout, stderr } = idsmith(...args('--json'));
    expect(status).toBe(0);
    expect(JSON.parse(stdout).moved).toBeLessThan(KEYS);
    expect(stderr).toMatch(/keys moved in \d+ s/);
    expect([await inRing(), await inCluster()]).toEqual([0, KEYS]);
    const key = idsmith('key', '--type', 'user', '--config', files[1]);
    expect(key).toMatchObject({ status: 0, stderr: '' });
  });

  it('says that the cluster has minted before, and how to prevent that', async () => {
    const [ring, cluster, withoutTakesOver] = files;
    const refused = idsmith('key', '--config', cluster);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('minting was not handed over to cluster yet');
    const dryRun = (to: string) => idsmith('reshard', '--from', ring, '--to', to, '--dry-run');
    expect(dryRun(cluster).stdout).not.toContain('takesOver');
    expect(dryRun(withoutTakesOver).stdout).toContain('put takesOver: true into the new config');

    expect(idsmith('key', '--config', ring).status).toBe(0);
    expect(idsmith('key', '--config', withoutTakesOver).status).toBe(0);
    const said = 'node cluster has minted keys for the new map before minting was handed over';
    expect(dryRun(cluster).stdout).toContain(said);
    const moved = idsmith(...args());
    expect(moved).toMatchObject({ status: 0 });
    expect(moved.stderr).toContain(said);
    expect(dryRun(cluster).stdout).not.toContain(said);
    expect(idsmith('key', '--config', cluster).status).toBe(0);
  });

  it('is given up by an abort that is killed and continues', async () => {
    // There are so many to go back that the abort, which is slower, does not come to its end before it is killed.
    await kill(100, '--rate', '100');
    await kill(0, '--abort', '--rate', '5');
    const again = idsmith(...args());
    expect(again.status).toBe(1);
    expect(again.stderr).toContain('was given up, and its keys go back');
    const { status, stderr } = idsmith(...args('--abort'));
    expect(status).toBe(0);
    expect(stderr).toMatch(/keys moved back in \d+ s/);
    expect(await inRing()).toBe(KEYS);
    expect(await both.keysOf(both.cluster.masters)).toEqual(['$equence', 'idsmith:reshard']);
  });

  it('fails in one sentence without the password, and changes nothing', async () => {
    const { port } = both.cluster.masters[0]!;
    for (const [nodes, reason] of [
      [[`redis://mover:hunter22@127.0.0.1:${port}`], /WRONGPASS/],
      [['redis://mover:hunter22@127.0.0.1:1'], /nobody answers at 127\.0\.0\.1:1/],
      [[`redis://127.0.0.1:${both.ring.servers[0]!.port}`], /cluster support disabled/],
    ] as const) {
      const to = file('wrong.json', {
        cluster: { nodes },
        hashTags: true,
        options: both.ring.config.options,
      });
      const { status, stdout, stderr } = idsmith('reshard', '--from', files[0], '--to', to);
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
      expect(stderr).toMatch(/^idsmith: node cluster: /);
      expect(stderr).toMatch(reason);
      expect(stderr).not.toContain('hunter22');
    }
    expect(await inRing()).toBe(KEYS);
  });
});

describe('The config of a Redis Cluster', () => {
  it.each([
    [{ nodes: [] }, /^cluster\.nodes must be a list of URLs or \[port, host\]/],
    [{ node: ['redis://h'] }, /unknown name "node"; did you mean "nodes"\?/],
    [{ nodes: ['redis://h'], natMap: {} }, /unknown name "natMap"/],
    [{ nodes: ['hunter22'] }, /^cluster\.nodes\[0\] must be .*URL like rediss:/],
    [{ nodes: [{ url: 'redis://:hunter22@h' }] }, /^cluster\.nodes\[0\] must be a URL like/],
    [{ nodes: ['redis://h', 'redis://:hunter22@g'] }, /^cluster\.nodes\[1\] has another login/],
    [{ nodes: ['redis://h', 'rediss://g'] }, /^cluster\.nodes\[1\] has another login/],
    [{ nodes: ['redis://h/2'] }, /^cluster\.nodes\[0\] must be a URL without a database/],
    [{ nodes: [[1, 'h', 5]] }, /^cluster\.nodes\[0\] must be a URL/],
    [{ nodes: [[0, 'h']] }, /^the port of cluster\.nodes\[0\]/],
    [{ nodes: ['redis://h'], tls: 'hunter22' }, /^cluster\.tls must be true, false/],
    [{ nodes: ['redis://h'], user: 'hunter22' }, /^cluster\.password is missing/],
  ] as [never, RegExp][])('%j is refused, and no secret shown', (cluster, message) => {
    const construct = () => new ShardMap({ cluster, hashTags: true });
    expect(construct).toThrow(message);
    expect(construct).not.toThrow(/hunter22/);
  });

  it('has a login for all nodes, in the URLs, beside them or in auth', () => {
    const logins = [
      { cluster: { nodes: ['redis://u:p@h', 'redis://u:p@g:7000'] } },
      { cluster: { nodes: ['redis://h', [7000, 'g']], user: 'u', password: 'p' } },
      { cluster: { nodes: ['redis://h', [7000, 'g']] }, auth: { user: 'u', password: 'p' } },
    ] as const;
    for (const config of logins) expect(new ShardMap(config).whereIs('1jyVFw3401')).toBe('cluster');
    expect(() => new ShardMap({ ...logins[0], createClient: () => ({}) as never })).toThrow(
      'createClient must be left out beside cluster.nodes',
    );
  });
});
