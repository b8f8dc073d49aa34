import { describe, expect, it } from 'vitest';
import { describeWith, startRedis } from '#services';
import { evictionHints, readEvictions } from '../src/runs/verify/behaviour.ts';

const none = { policy: 'noeviction', evicted: 7, expired: 3 };

describe('The hints of a run', () => {
  it('are none if nothing was evicted, and nothing can be', () => {
    expect(evictionHints(none, none, true)).toEqual([]);
    expect(evictionHints(undefined, undefined, true)).toEqual([]);
    expect(evictionHints(none, undefined, true)).toEqual([]);
  });

  it('name the keys that were evicted during the run, also after the server has started again', () => {
    const hint = 'keys were evicted: set maxmemory-policy noeviction (5 during the run)';
    expect(evictionHints(none, { ...none, evicted: 12 }, true)).toEqual([hint]);
    expect(evictionHints(none, { ...none, evicted: 5 }, false)).toEqual([hint]);
  });

  it('name a policy with which keys can be evicted, at the beginning or at the end', () => {
    const lru = { ...none, policy: 'allkeys-lru' };
    const hint = 'keys can be evicted: set maxmemory-policy noeviction (it is allkeys-lru)';
    expect(evictionHints(lru, lru, false)).toEqual([hint]);
    expect(evictionHints(none, lru, false)).toEqual([hint]);
    expect(evictionHints(lru, none, false)).toEqual([hint]);
  });

  it('name keys that expired only if a rule was broken: keys of others may expire', () => {
    const later = { ...none, expired: 1503 };
    expect(evictionHints(none, later, false)).toEqual([]);
    expect(evictionHints(none, later, true)).toEqual([
      'keys expired: if any begins with idsmith:, find who sets an expiry (1,500 during the run)',
    ]);
  });
});

await describeWith(['redis'], 'The counters of a Redis', () => {
  it('are read with its policy', async ({ onTestFinished }) => {
    const server = await startRedis({ args: ['--maxmemory-policy', 'volatile-ttl'] });
    onTestFinished(() => server.stop());
    const url = `${server.url}/3?durable=true`;
    expect(await readEvictions({ url })).toEqual({ policy: 'volatile-ttl', evicted: 0, expired: 0 });
    await server.command('SET', 'k', 'v', 'PX', 1);
    await expect.poll(() => server.command('EXISTS', 'k')).toBe('0');
    expect(await readEvictions({ url })).toMatchObject({ expired: 1 });
  });

  it('stay unknown where the user may not read them, and on other stores', async ({ onTestFinished }) => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    await server.command('ACL', 'SETUSER', 'minter', 'on', '>secret', '~idsmith:*', '+@all', '-info');
    expect(await readEvictions({ url: server.url.replace('//', '//minter:secret@') })).toBeUndefined();
    expect(await readEvictions({ url: server.url.replace('//', '//default@') })).toBeDefined();
    expect(await readEvictions({ url: 'sqlite:./ids.db' })).toBeUndefined();
    expect(await readEvictions({ module: './store.mjs' })).toBeUndefined();
  });
});
