import fc from 'fast-check';
import { acquireLease, type LeaseRecord, memoryStore, type RandomSource, Uuid7Generator } from 'idsmith';
import { FakeClock, FakeTime } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { handLease } from '../support/hand-lease.ts';
import { repeated } from '../support/unique.ts';
import { always, type Call, mint, notIncreasing, randomPart, timeOf } from './set-up.ts';

const fenced = expect.objectContaining({ code: 'LEASE_FENCED' });
const closed = expect.objectContaining({ code: 'CLOSED' });
const refused = expect.objectContaining({ code: 'INVALID_OPTION' });
const nodeOf = (id: string) => Number.parseInt(id.slice(-4), 16);
const START = Date.UTC(2026, 0, 2);

function setUp() {
  const time = new FakeTime();
  const clock = time.clock();
  const inner = memoryStore();
  const store = { ...inner, now: async () => time.now };
  const lease = (size = 4) => acquireLease(store, { namespace: 'ids', size, timer: time, clock });
  const generator = async (random: RandomSource = always(7), size?: number) => {
    const node = await lease(size);
    return { lease: node, generator: new Uuid7Generator({ node, clock, random }) };
  };
  return { time, clock, store, lease, generator };
}

describe('a UUIDv7 generator with a lease', () => {
  it('writes the node id into the last four digits', () => {
    const clock = new FakeClock(START);
    for (const node of [0, 1, 0xbeef, 0xffff]) {
      const generator = new Uuid7Generator({ node: handLease(node), clock });
      const ids = [...mint(generator, 'next', 300), ...generator.batch(300), ...mint(generator, 'fill', 600)];
      expect(new Set(ids.map(nodeOf))).toEqual(new Set([node]));
      expect(notIncreasing(ids)).toEqual([]);
    }
  });

  it('steps by 1 to 2^40 above the node id', () => {
    const generator = new Uuid7Generator({ node: handLease(9), clock: new FakeClock(START) });
    const parts = generator.batch(5000).map((id) => randomPart(id) >> 16n);
    const steps = parts.slice(1).map((part, i) => part - (parts[i] as bigint));
    expect(steps.every((step) => step >= 1n && step <= 1n << 40n)).toBe(true);
    expect(steps.filter((step) => step > 1n << 39n).length).toBeGreaterThan(2000);
  });

  it.each([0, 7, 0xff])(
    'never repeats an id of another holder with the same random source: %d',
    async (byte) => {
      const { time, generator } = setUp();
      const holders = [];
      for (let i = 0; i < 4; i++) holders.push(await generator(always(byte)));
      const ids: string[] = [];
      for (let round = 0; round < 20; round++) {
        for (const holder of holders)
          ids.push(...mint(holder.generator, 'next', 20), ...holder.generator.batch(70));
        await time.advance(1);
      }
      expect(repeated(ids)).toEqual([]);
    },
  );

  it.each([0, 0xff])(
    'never repeats an id of the holder before, with the same random source: %d',
    async (byte) => {
      const { generator } = setUp();
      const ids: string[] = [];
      // The clock stands still, so each holder wants the same millisecond.
      for (let i = 0; i < 20; i++) {
        const holder = await generator(always(byte), 1);
        ids.push(...holder.generator.batch(10));
        await holder.lease.release();
        expect(() => holder.generator.next()).toThrow(closed);
      }
      expect(new Set(ids.map(nodeOf))).toEqual(new Set([0]));
      expect(repeated(ids)).toEqual([]);
    },
  );

  it('mints until the end of its window, and no further', async () => {
    const { time, store, generator } = setUp();
    const holder = await generator();
    mint(holder.generator, 'next', 10);
    store.swapLease = () => Promise.reject(new Error('down'));
    await time.advance(holder.lease.until - time.now - 1);
    expect(timeOf(holder.generator.next())).toBe(holder.lease.until - 1);
    await time.advance(1);
    expect(() => holder.generator.next()).toThrow(fenced);
    expect(() => holder.generator.batch(3)).toThrow(fenced);
    expect(() => holder.generator.fill(new Uint8Array(16))).toThrow(fenced);
  });

  it('leaves the fence just above the last id', async () => {
    const { store, generator } = setUp();
    const holder = await generator();
    const last = timeOf(holder.generator.next());
    await holder.lease.release();
    expect((await store.listLeases('ids'))[0]).toMatchObject({ owner: null, fence: last + 1 });
  });

  it('goes on above its last id when the lease was lost and replaced', async () => {
    const { time, store, generator } = setUp();
    const holder = await generator();
    const ids = mint(holder.generator, 'next', 5);
    const [record] = await store.listLeases('ids');
    await store.swapLease('ids', record, { ...(record as LeaseRecord), owner: 'thief', epoch: 2 });
    await time.advance(15_000);
    ids.push(...mint(holder.generator, 'next', 5));
    expect(ids.map(nodeOf)).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
    expect(notIncreasing(ids)).toEqual([]);
  });

  it('never stamps a time before its window', async () => {
    const { clock, generator } = setUp();
    const holder = await generator();
    clock.offset = -1e6;
    expect(timeOf(holder.generator.next())).toBe(holder.lease.from);
  });

  it('stops at once when it is fenced, and takes another node id', async () => {
    const { time, generator } = setUp();
    const holder = await generator();
    const ids = mint(holder.generator, 'next', 5);
    holder.generator.fence();
    expect(holder.lease.state).toBe('fenced');
    expect(() => holder.generator.next()).toThrow(fenced);
    await time.advance(15_000);
    ids.push(holder.generator.next());
    expect(notIncreasing(ids)).toEqual([]);
  });

  it('has the lease to itself, needs a node id of 16 bits, and does not share with threads', async () => {
    const { clock, lease, generator } = setUp();
    const holder = await generator();
    expect(() => new Uuid7Generator({ node: holder.lease, clock })).toThrow(refused);
    expect(() => holder.generator.share()).toThrow(refused);
    const large = await lease(65_537);
    expect(() => new Uuid7Generator({ node: large, clock })).toThrow(/size 65536 at most/);
  });
});

describe('a window that begins ahead of the clock', () => {
  it('is no lead: a switch to another node id goes on above it', () => {
    const clock = new FakeClock(START);
    const lease = handLease(0, START + 40_000, START + 70_000);
    const generator = new Uuid7Generator({ node: lease, clock });
    expect(timeOf(generator.next())).toBe(START + 40_000);
    lease.move({ node: 1, from: START, until: START + 30_000 });
    expect(() => generator.next()).toThrow(fenced);
    lease.move({ until: START + 45_000 });
    expect(timeOf(generator.next())).toBe(START + 40_001);
  });
});

describe('close()', () => {
  it('ends a generator, and releases only a lease of its own', async () => {
    const { store, clock, lease, generator } = setUp();
    const given = await generator();
    const last = timeOf(given.generator.next());
    await given.generator.close();
    await given.generator[Symbol.asyncDispose]();
    for (const call of [
      () => given.generator.next(),
      () => given.generator.batch(0),
      () => given.generator.fill(new Uint8Array(0)),
      () => given.generator.share(),
    ])
      expect(call).toThrow(closed);
    expect(given.lease.state).toBe('active');
    await given.lease.release();
    expect((await store.listLeases('ids'))[0]).toMatchObject({ owner: null, fence: last + 1 });
    const own = Uuid7Generator.owning(await lease(), { clock });
    own.next();
    await own.close();
    expect(own.lease?.state).toBe('released');
  });

  it('of one thread leaves the others alone', async () => {
    const generator = new Uuid7Generator();
    const other = Uuid7Generator.attach(generator.share());
    await generator.close();
    expect(() => generator.next()).toThrow(closed);
    expect(other.next()).toMatch(/-7/);
  });

  it('is final, also for code that the clock or the random source runs', () => {
    for (const part of ['clock', 'random']) {
      const lease = handLease(3);
      let isArmed = false;
      const close = () => void (isArmed && lease.release());
      const generator: Uuid7Generator = new Uuid7Generator({
        node: lease,
        clock: {
          now() {
            if (part === 'clock') close();
            return START;
          },
        },
        random: {
          fill(target) {
            if (part === 'random') close();
            target.fill(1);
          },
        },
      });
      generator.next();
      isArmed = true;
      expect(() => generator.batch(3)).toThrow(closed);
    }
  });
});

/** Holders of node ids on the terms of the protocol: a window of a node id begins at the fence or later. */
class Landlord {
  readonly ids: string[] = [];
  readonly clock = new FakeClock(START);
  readonly #fences = [START, START, START];
  readonly #holders: { lease: ReturnType<typeof handLease>; generator: Uuid7Generator; ids: string[] }[];

  constructor(random: RandomSource) {
    this.#holders = [0, 1].map((node) => {
      const { from, until } = this.#grant(node, 0, 5);
      const lease = handLease(node, from, until);
      return { lease, generator: new Uuid7Generator({ node: lease, clock: this.clock, random }), ids: [] };
    });
  }

  #grant(node: number, gap: number, length: number) {
    const from = (this.#fences[node] as number) + gap;
    this.#fences[node] = from + length;
    return { node, from, until: from + length };
  }

  renew(who: number, length: number): void {
    const { lease } = this.#holders[who]!;
    const until = lease.window.until + length;
    this.#fences[lease.window.node] = until;
    lease.move({ until });
  }

  replace(who: number, node: number, gap: number, length: number): void {
    if (this.#holders[1 - who]!.lease.window.node === node) return;
    this.#holders[who]!.lease.move(this.#grant(node, gap, length));
  }

  mint(who: number, how: Call, count: number): void {
    const { lease, generator, ids } = this.#holders[who]!;
    const { node, from, until } = lease.window;
    try {
      for (const id of mint(generator, how, count)) {
        if (nodeOf(id) !== node || timeOf(id) < from || timeOf(id) >= until)
          expect.fail(`${id} is outside the window ${from} to ${until} of ${node}`);
        ids.push(id);
      }
    } catch (error) {
      if ((error as { code?: string }).code !== 'LEASE_FENCED') throw error;
    }
    expect(notIncreasing(ids.slice(-count - 1))).toEqual([]);
  }

  get everything(): string[] {
    return this.#holders.flatMap(({ ids }) => ids);
  }
}

describe('two generators with leases and the same random source', () => {
  const who = fc.nat(1);
  const few = fc.integer({ min: 1, max: 6 });
  type Act = (landlord: Landlord) => void;
  const act: fc.Arbitrary<Act> = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.tuple(who, fc.constantFrom<Call>('next', 'batch', 'fill'), few).map(
        (args): Act =>
          (landlord) =>
            landlord.mint(...args),
      ),
    },
    {
      weight: 4,
      arbitrary: fc.integer({ min: -4, max: 6 }).map(
        (ms): Act =>
          (landlord) =>
            void landlord.clock.advance(ms),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(who, few).map(
        (args): Act =>
          (landlord) =>
            landlord.renew(...args),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(who, fc.nat(2), fc.nat(4), few).map(
        (args): Act =>
          (landlord) =>
            landlord.replace(...args),
      ),
    },
  );

  it.each([0, 7, 0xff])('never repeat an id through any history of windows and clocks: %d', (byte) => {
    fc.assert(
      fc.property(fc.array(act, { minLength: 5, maxLength: 80 }), (history) => {
        const landlord = new Landlord(always(byte));
        for (const step of history) step(landlord);
        expect(repeated(landlord.everything)).toEqual([]);
      }),
      { numRuns: 700 },
    );
  });
});
