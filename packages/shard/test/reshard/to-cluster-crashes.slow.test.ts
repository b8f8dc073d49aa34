import { abortReshard, planReshard, reshard } from '@idsmith/shard';
import { StoreError } from 'idsmith';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith, type RedisServer } from '#services';
import type { AfterStep } from '../../src/reshard/options.ts';
import { RingAndCluster } from './ring-and-cluster.ts';

await describeWith(['redis'], 'An old owner that comes back empty in a resharding to a Redis Cluster', () => {
  let both: RingAndCluster;
  let crashed: RedisServer;
  let keys: string[];

  beforeAll(async () => {
    both = await RingAndCluster.start();
    crashed = both.ring.servers[1] as RedisServer;
  });
  beforeEach(async () => {
    await both.empty();
    const [from] = both.maps();
    keys = Array.from({ length: 200 }, (_, i) => from.fixedKey(1000 + i, i, 2));
    for (const key of keys) await from.getClient(key).set(key, key);
  });
  afterAll(() => both?.stop());

  const name = () => `127.0.0.1:${crashed.port}`;

  /** Ends the run after some batches, as kill -9 does. */
  async function killed(run: typeof reshard | typeof abortReshard, batches: number): Promise<void> {
    let left = batches;
    const afterStep: AfterStep = (step) => {
      if (step === 'settled' && --left <= 0) throw new Error('killed');
    };
    const error = await run(...both.maps(), { batch: 10, afterStep } as object).catch((error) => error);
    expect(error.message).toBe('killed');
  }

  async function crash(): Promise<void> {
    await crashed.kill();
    await crashed.start();
  }

  async function expectRefusal(answer: Promise<unknown>): Promise<void> {
    const error = (await answer.catch((error) => error)) as Error;
    expect(error).toBeInstanceOf(StoreError);
    expect((error as Error).message).toContain(`--accept-older ${name()}`);
  }

  it('after it gave keys away is not used, until its loss is accepted: then all other keys are there', async () => {
    const [from] = both.maps();
    await killed(reshard, 12);
    const left = new Set(await both.keysOf([crashed]));
    const others = keys.filter((key) => !left.has(key));
    const mine = keys.find((key) => from.ownerOf(key).port === crashed.port) as string;
    expect(others.length).toBeGreaterThan(10);
    await crash();
    for (const run of [planReshard, reshard, abortReshard]) await expectRefusal(run(...both.maps()));
    await expectRefusal(both.transition().getClient(mine).get(mine));
    const other = keys.find((key) => from.ownerOf(key).port !== crashed.port) as string;
    expect(await both.transition().getClient(other).get(other)).toBe(other);
    await reshard(...both.maps(), { acceptOlder: [name()] });
    for (const key of others) expect(await both.client.get(key)).toBe(key);
  });

  it('after it got keys back is not used, until its loss is accepted', async () => {
    const [from] = both.maps();
    await killed(reshard, 18);
    await killed(abortReshard, 4);
    const there = new Set(await both.keysOf([crashed]));
    await crash();
    await expectRefusal(abortReshard(...both.maps()));
    await abortReshard(...both.maps(), { acceptOlder: [name()] });
    for (const key of keys) expect(await from.getClient(key).get(key), key).toBe(there.has(key) ? null : key);
  });
});
