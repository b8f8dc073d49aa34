import { abortReshard, reshard } from '@idsmith/shard';
import { StoreError } from 'idsmith';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { SLOTS, slotOf, tagOfSlot } from '../../src/keys/slots.ts';
import { reservedKeyOf, STATE_KEY } from '../../src/reshard/redis-keys.ts';
import { RingAndCluster } from './ring-and-cluster.ts';
import { KEY } from './two-node-reshard.ts';

/** The state of a slot that has no key of a map. */
const OTHER_SLOT = reservedKeyOf(STATE_KEY, tagOfSlot((slotOf(KEY) + 1) % SLOTS));

let nodes: RingAndCluster | undefined;
afterAll(() => nodes?.stop());

await describeWith(['redis'], 'A resharding to a Redis Cluster that is given up', () => {
  let both: RingAndCluster;

  beforeAll(async () => {
    nodes ??= await RingAndCluster.start();
    both = nodes;
  });
  beforeEach(async () => {
    await both.empty();
    const [from] = both.maps();
    await from.getClient(KEY).set(KEY, 'value');
    const afterStep = (step: string) => {
      if (step === 'settled') throw new Error('killed');
    };
    await expect(reshard(...both.maps(), { afterStep } as object)).rejects.toThrow('killed');
  });

  /** Gives the resharding up, and calls `use` after each step. */
  const abort = (use: (step: string) => Promise<void> = async () => {}) =>
    abortReshard(...both.maps(), { afterStep: use } as object).catch((error) => error);

  async function openSlots(): Promise<number> {
    const names = await both.keysOf(both.cluster.masters);
    return names.filter((name) => name.startsWith(`${STATE_KEY}:{`)).length;
  }

  async function expectKeyInRing(): Promise<void> {
    const [from] = both.maps();
    expect(await from.getClient(KEY).get(KEY)).toBe('value');
    expect(await both.client.exists(KEY)).toBe(0);
    expect(await openSlots()).toBe(0);
  }

  it('opens every slot while keys go back', async () => {
    const counts: number[] = [];
    const returned = await abort(async (step) => {
      if (step === 'claimed') counts.push(await openSlots());
    });
    expect(returned).toMatchObject({ moved: 1 });
    expect(counts).toEqual([SLOTS]);
    await expectKeyInRing();
  });

  it('returns no key while a slot cannot be opened', async () => {
    await both.client.set(OTHER_SLOT, 'not a hash');
    const steps: string[] = [];
    const error = await abort(async (step) => {
      steps.push(step);
    });
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain('opening a slot failed');
    expect(steps).toEqual([]);
    await both.client.del(OTHER_SLOT);
    expect(await abort()).toMatchObject({ moved: 1 });
    await expectKeyInRing();
  });

  it('does not end while a slot cannot be closed', async () => {
    const error = await abort(async (step) => {
      if (step !== 'settled') return;
      await both.client.del(OTHER_SLOT);
      await both.client.set(OTHER_SLOT, 'not a hash');
    });
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain('closing a slot failed');
    expect(await both.client.hget(STATE_KEY, 'phase')).toBe('returning');
    await both.client.del(OTHER_SLOT);
    expect(await abort()).toMatchObject({ moved: 0 });
    await expectKeyInRing();
  });
});
