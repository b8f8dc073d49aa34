import { type LeaseRecord, type LeaseStore, memoryStore } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { sameRecord } from '../../src/lease/port.ts';
import { meanwhile, setUp, TTL } from './set-up.ts';

const OPTIONS = { size: 2, reacquire: false };

/** A store that can forget, and does so when it is told. */
function volatile(maxTtl = TTL) {
  let kept = memoryStore();
  const world = setUp({ durable: false, maxTtl });
  const { store } = world;
  store.listLeases = (namespace) => kept.listLeases(namespace);
  store.swapLease = (...args) => kept.swapLease(...args);
  const lose = () => {
    kept = memoryStore();
  };
  const birth = async (namespace = 'test') =>
    (await kept.listLeases(namespace)).find(({ id }) => id === -1) as LeaseRecord;
  return { ...world, lose, birth };
}

describe('a claim in a namespace that was lost since it was listed', () => {
  it('does not count, though the store has taken it', async () => {
    const { time, store, lease, lose, birth } = volatile();
    await meanwhile(time, lease(OPTIONS));
    const swap = store.swapLease;
    let isLost = false;
    store.swapLease = async (namespace, expected, next) => {
      if (next.id >= 0 && !isLost) {
        isLost = true;
        lose();
      }
      return swap(namespace, expected, next);
    };
    const lostAt = time.now;
    const fresh = await meanwhile(time, lease(OPTIONS));
    expect(isLost).toBe(true);
    expect(fresh.from).toBeGreaterThanOrEqual(lostAt + TTL);
    expect(fresh.from).toBeGreaterThanOrEqual((await birth()).fence);
  });

  it('is refused by a store that compares the birth record in the same step', async () => {
    const { time, store, lease, lose, birth } = volatile();
    const claims: boolean[] = [];
    let isToBeLost = false;
    store.claimLease = async (namespace, expected, next, known) => {
      if (isToBeLost) lose();
      isToBeLost = false;
      const isSame = sameRecord(await birth(namespace), known);
      const isDone = isSame && (await store.swapLease(namespace, expected, next));
      claims.push(isDone);
      return isDone;
    };
    await meanwhile(time, lease(OPTIONS));
    isToBeLost = true;
    const lostAt = time.now;
    const fresh = await meanwhile(time, lease(OPTIONS));
    expect(claims).toEqual([true, false, true]);
    expect(fresh.from).toBeGreaterThanOrEqual(lostAt + TTL);
  });

  it('asks a store that compares by itself no further question', async () => {
    const { time, store, lease } = volatile();
    let isClaimed = false;
    const after: string[] = [];
    const list = store.listLeases;
    store.listLeases = async (namespace) => {
      if (isClaimed) after.push('listLeases');
      return list(namespace);
    };
    (store as { claimLease?: LeaseStore['claimLease'] }).claimLease = async (namespace, expected, next) => {
      isClaimed = await store.swapLease(namespace, expected, next);
      return isClaimed;
    };
    await meanwhile(time, lease(OPTIONS));
    expect([isClaimed, after]).toEqual([true, []]);
  });
});

describe('the longest ttl that a process has seen in a namespace', () => {
  const founded = (epoch: number, fence: number) => ({
    id: -1,
    owner: `founder of ${epoch}`,
    epoch,
    fence,
    expiresAt: 0,
    label: 'namespace',
  });

  it.each([
    ['a founder with a shorter one came later', 'test'],
    ['it has seen another namespace since', 'other'],
  ])('counts though %s', async (_, later) => {
    const { time, store, lease, lose, birth } = volatile(5000);
    const options = { ...OPTIONS, ttl: 5000, maxSkew: 0, waitFor: 200_000 };
    await store.swapLease('test', undefined, founded(120_000, time.now));
    await (await meanwhile(time, lease(options))).release();
    lose();
    await store.swapLease(later, undefined, founded(7000, time.now));
    await (await meanwhile(time, lease({ ...options, namespace: later }))).release();
    lose();
    const lostAt = time.now;
    await meanwhile(time, lease(options));
    expect((await birth()).epoch).toBe(120_000);
    expect((await birth()).fence).toBeGreaterThanOrEqual(lostAt + 120_000);
  });
});
