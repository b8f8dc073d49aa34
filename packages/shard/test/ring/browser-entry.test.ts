import { fileURLToPath } from 'node:url';
import { fixedKey, HashRing, MAX_WEIGHT, shardNodesOf } from '@idsmith/shard/ring';
import { build } from 'esbuild';
import { InvalidOptionError } from 'idsmith';
import { describe, expect, it } from 'vitest';

const entry = fileURLToPath(new URL('../../src/browser.ts', import.meta.url));

describe('The entry @idsmith/shard/ring', () => {
  it('bundles for a browser without any code that talks to Redis', async () => {
    // A Node built-in would fail the build.
    const { metafile } = await build({
      entryPoints: [entry],
      bundle: true,
      write: false,
      platform: 'browser',
      format: 'esm',
      metafile: true,
    });
    const [output] = Object.values(metafile.outputs);
    const files = Object.keys(output?.inputs ?? {}).map((file) => file.replace(/^.*packages\//, ''));
    expect(files).toContain('shard/src/ring/hash-ring.ts');
    expect(
      files.filter((file) => /(dist|src)\/(stores|lease|redis|cli|mint|nodes|reshard)\//.test(file)),
    ).toEqual([]);
  });

  it('places the keys of a config', () => {
    const nodes = shardNodesOf({
      shards: { 0: ['6379', '10.0.0.1', 1], 1: ['6379', '10.0.0.2', MAX_WEIGHT] },
    });
    const ring = new HashRing(Object.fromEntries(nodes.map(({ ringName, weight }) => [ringName, weight])));
    expect(ring.nodeOf(fixedKey(300_000_000_000, 7, 3843))).toBe('10.0.0.2:6379');
  });

  it('refuses a Redis Cluster, which has no ring', () => {
    expect(() => shardNodesOf({ cluster: {} })).toThrow(
      new InvalidOptionError('the config must have shards: a Redis Cluster places keys by its own slots'),
    );
  });
});
