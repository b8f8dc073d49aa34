import { acquireLease, type LeaseRecord, LocalityGenerator, LocalityUuid, memoryStore } from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { describe, expect, it, vi } from 'vitest';
import { repeated } from '../support/unique.ts';

const fenced = expect.objectContaining({ code: 'LEASE_FENCED' });
const TTL = 30_000;
const timeOf = (id: string) => Number(LocalityUuid.parse(id).timestamp);

function setUp() {
  const time = new FakeTime();
  const clock = time.clock();
  const inner = memoryStore();
  const store = { ...inner, now: async () => time.now };
  const lease = (size = 4) => acquireLease(store, { namespace: 'locality', size, timer: time, clock });
  return { time, clock, store, lease };
}

describe('a locality generator with a lease', () => {
  it('writes the leased node id in the place of process and machine', async () => {
    const { clock, lease } = setUp();
    const [first, second] = [await lease(), await lease()];
    const [a, b] = [first, second].map((node) => new LocalityGenerator({ node, clock }).nextUuid());
    expect([a?.processId, b?.processId]).toEqual([0, 1]);
    expect([...(b?.macFragment ?? [])]).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('is refused in sequential mode where every copy of a container has a store of its own', async () => {
    const held = await acquireLease(memoryStore(), { namespace: 'locality', size: 4 });
    vi.stubEnv('KUBERNETES_SERVICE_HOST', '10.0.0.1');
    expect(() => new LocalityGenerator({ node: held, mode: 'sequential' })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    );
    expect(new LocalityGenerator({ node: held }).next()).toHaveLength(36);
    vi.unstubAllEnvs();
    await held.release();
  });

  it('mints until the end of its window, and no further', async () => {
    const { time, clock, store, lease } = setUp();
    const held = await lease();
    const generator = new LocalityGenerator({ node: held, clock });
    generator.next();
    store.swapLease = () => Promise.reject(new Error('down'));
    await time.advance(held.until - time.now - 1);
    expect(timeOf(generator.next())).toBe(held.until - 1);
    await time.advance(1);
    expect(() => generator.next()).toThrow(fenced);
    expect(() => generator.batch(3)).toThrow(fenced);
    expect(() => generator.fill(new Uint8Array(16))).toThrow(fenced);
  });

  it('leaves the fence just above the last id, and the next holder starts there', async () => {
    const { clock, store, lease } = setUp();
    const held = await lease(1);
    const generator = new LocalityGenerator({ node: held, clock, counter: 7 });
    const ids = generator.batch(3);
    await held.release();
    expect(() => generator.next()).toThrow(expect.objectContaining({ code: 'CLOSED' }));
    const last = timeOf(ids[2] as string);
    expect((await store.listLeases('locality'))[0]).toMatchObject({ owner: null, fence: last + 1 });
    const next = new LocalityGenerator({ node: await lease(1), clock, counter: 7 });
    ids.push(...next.batch(3));
    expect(repeated(ids)).toEqual([]);
    expect(timeOf(ids[3] as string)).toBeGreaterThan(last);
  });

  it('goes on with another node id when the lease was lost', async () => {
    const { time, clock, store, lease } = setUp();
    const held = await lease();
    const generator = new LocalityGenerator({ node: held, clock });
    expect(generator.nextUuid().processId).toBe(0);
    const [record] = await store.listLeases('locality');
    await store.swapLease('locality', record, { ...(record as LeaseRecord), owner: 'thief', epoch: 2 });
    await time.advance(TTL / 2);
    expect(held.id).toBe(1);
    expect(generator.nextUuid().processId).toBe(1);
  });

  it('never stamps a time before its window, though the clock goes back there', async () => {
    const { clock, lease } = setUp();
    const held = await lease();
    const generator = new LocalityGenerator({ node: held, clock });
    clock.offset = -1e6;
    expect(timeOf(generator.next())).toBe(held.from);
  });

  it('has the lease to itself, and does not share it with threads', async () => {
    const { clock, lease } = setUp();
    const held = await lease();
    const generator = new LocalityGenerator({ node: held, clock });
    const refused = expect.objectContaining({ code: 'INVALID_OPTION' });
    expect(() => new LocalityGenerator({ node: held, clock })).toThrow(refused);
    expect(() => generator.share()).toThrow(refused);
  });
});
