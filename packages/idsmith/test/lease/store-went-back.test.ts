import {
  acquireLease,
  FlakeGenerator,
  InvalidOptionError,
  type Lease,
  type LeaseRecord,
  type LeaseStore,
  StoreError,
} from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { foundAgain } from '../../src/lease/founding.ts';
import { sameRecord } from '../../src/lease/port.ts';
import { meanwhile, ONE_RENEWAL, TTL } from './set-up.ts';

type Records = Map<string, Map<number, LeaseRecord>>;

/** A store that tells its lineage. The test sets the lineage, and puts earlier records in the place of the present ones. */
class Server {
  lineage = 'first';
  #records: Records = new Map();
  readonly time = new FakeTime();

  /** The records of this moment. */
  copy(): Records {
    return new Map([...this.#records].map(([name, records]) => [name, new Map(records)]));
  }

  /** Loses everything since `before`. */
  goBack(before: Records, lineage = this.lineage): void {
    this.#records = before;
    this.lineage = lineage;
  }

  /** A connection, whose process notices nothing of others. */
  connect(more: Partial<LeaseStore> = {}): LeaseStore {
    const swap = (namespace: string, expected: LeaseRecord | undefined, next: LeaseRecord) => {
      const isOtherLineage = next.id === -1 && next.label !== this.lineage;
      if (isOtherLineage || !sameRecord(this.record(namespace, next.id), expected)) return false;
      this.#of(namespace).set(next.id, next);
      return true;
    };
    return {
      durable: true,
      now: async () => this.time.now,
      moment: async () => ({ now: this.time.now, lineage: this.lineage }),
      listLeases: async (namespace) => [...this.#of(namespace).values()],
      swapLease: async (...args) => swap(...args),
      claimLease: async (namespace, expected, next, birth) =>
        birth.label === this.lineage &&
        sameRecord(this.record(namespace, -1), birth) &&
        swap(namespace, expected, next),
      ...more,
    };
  }

  record(namespace: string, id: number): LeaseRecord | undefined {
    return this.#of(namespace).get(id);
  }

  #of(namespace: string): Map<number, LeaseRecord> {
    const records = this.#records.get(namespace) ?? new Map<number, LeaseRecord>();
    this.#records.set(namespace, records);
    return records;
  }
}

function setUp(size = 1) {
  const server = new Server();
  const { time } = server;
  const lease = (options: object = {}, store = server.connect()) =>
    acquireLease(store, { namespace: 'n', size, timer: time, clock: time.clock(), ...options });
  return { server, time, lease };
}

/** Everything that a lease mints. A window that has ended is no failure. */
function minter(node: Lease, clock: { now(): number }) {
  const generator = new FlakeGenerator({ node, clock });
  const ids: bigint[] = [];
  const mint = () => {
    if (node.state === 'active') ids.push(generator.next());
  };
  return { ids, mint };
}

function repeats(...minters: { ids: bigint[] }[]): number {
  const all = minters.flatMap(({ ids }) => ids);
  return all.length - new Set(all).size;
}

describe('a store that goes back and tells no other lineage', () => {
  it('is noticed by a holder whose node id was taken before its lease can have run out', async () => {
    const { server, time, lease } = setUp(2);
    const holders = [await lease(), await lease()] as [Lease, Lease];
    const before = server.copy();
    await time.advance(2 * TTL);
    server.goBack(before);
    const newcomer = await lease({ reacquire: false });
    const errors: unknown[] = [];
    for (const held of holders) held.on('renewal-failed', (error) => errors.push(error));
    while (errors.length === 0) await time.advance(100);
    expect(errors[0]).toMatchObject({ code: 'STORE_WENT_BACK' });
    // From the first renewal of anybody on, nobody shares a node id.
    const minters = [...holders, newcomer].map((held) => minter(held, time.clock()));
    for (let ms = 0; ms < 3 * TTL; ms += 100) {
      await time.advance(100);
      // The newcomer stops with its next renewal.
      for (const { mint } of ms < ONE_RENEWAL ? minters.slice(0, 2) : minters) mint();
    }
    expect(repeats(...minters)).toBe(0);
    expect(newcomer.state).toBe('fenced');
    expect(minters[0]?.ids.length).toBeGreaterThan(100);
  });

  it('ends the window of that holder at once', async () => {
    const { server, time, lease } = setUp();
    const held = await lease({ reacquire: false });
    const before = server.copy();
    await time.advance(2 * TTL);
    server.goBack(before);
    await lease({ timer: new FakeTime(time.now) });
    await time.advance(ONE_RENEWAL);
    expect(held.until).toBe(held.from);
  });

  it('stops the newcomer, too, though somebody has made the namespace wait meanwhile', async () => {
    const { server, time, lease } = setUp();
    const held = await lease({ reacquire: false });
    const before = server.copy();
    await time.advance(2 * TTL);
    server.goBack(before);
    const newcomer = await lease({ reacquire: false });
    await foundAgain(server.connect(), 'n', 'restored');
    await time.advance(ONE_RENEWAL);
    expect(held.state).toBe('fenced');
    await time.advance(ONE_RENEWAL);
    expect(newcomer.state).toBe('fenced');
  });

  it('gives one other node id to a holder that is fenced while it makes the namespace wait', async () => {
    const { server, time, lease } = setUp(3);
    const inner = server.connect();
    let open: (() => void) | undefined;
    const store = server.connect({
      swapLease: async (...args) => {
        if (args[2].id === -1 && args[0] === 'n' && args[1] !== undefined && open === undefined)
          await new Promise<void>((resolve) => {
            open = resolve;
          });
        return inner.swapLease(...args);
      },
    });
    const held = await lease({}, store);
    const before = server.copy();
    await time.advance(2 * TTL);
    server.goBack(before);
    while (open === undefined) await time.advance(100);
    held.fence();
    open();
    await time.advance(3 * TTL);
    expect(held.state).toBe('active');
    const owners = [0, 1, 2].filter((id) => server.record('n', id)?.owner);
    expect(owners).toEqual([held.id]);
  });

  it.each([
    ['a lineage', {}],
    ['none', { moment: undefined, claimLease: undefined } as object],
  ])('is noticed by a release, which writes the fence that was lost: the store tells %s', async (_, more) => {
    const { server, time, lease } = setUp();
    const store = server.connect(more);
    const clock = time.clock(9000);
    const held = await lease({ clock }, store);
    const first = minter(held, clock);
    const before = server.copy();
    await time.advance(2 * TTL);
    server.goBack(before);
    first.mint();
    await held.release();
    const second = minter(await meanwhile(time, lease({ waitFor: 3 * TTL }, store)), time.clock());
    for (let ms = 0; ms < 9100; ms++) {
      await time.advance(1);
      second.mint();
    }
    expect(second.ids).toHaveLength(9100);
    expect(repeats(first, second)).toBe(0);
  });

  it('is noticed by a release that finds a new holder before the lease can have run out', async () => {
    const { server, time, lease } = setUp();
    const held = await lease();
    const before = server.copy();
    await time.advance(2 * TTL);
    server.goBack(before);
    const newcomer = await lease({ reacquire: false });
    const { until } = held;
    await held.release();
    expect(server.record('n', -1)?.fence).toBeGreaterThanOrEqual(until);
    await time.advance(ONE_RENEWAL);
    expect(newcomer.state).toBe('fenced');
  });

  it('is noticed by fence(), too', async () => {
    const { server, time, lease } = setUp();
    const held = await lease({ reacquire: false });
    const before = server.copy();
    await time.advance(2 * TTL);
    const { until } = held;
    server.goBack(before);
    held.fence();
    await time.advance(10);
    expect(server.record('n', 0)).toMatchObject({ owner: null, fence: until });
    expect(server.record('n', -1)?.fence).toBeGreaterThanOrEqual(until);
  });

  it('makes the namespace wait for what others have lost, though the holder takes no other node id', async () => {
    const { server, time, lease } = setUp(2);
    await lease({ reacquire: false });
    const before = server.copy();
    await time.advance(2 * TTL);
    server.goBack(before);
    const lostAt = time.now;
    await time.advance(ONE_RENEWAL);
    expect(server.record('n', -1)?.fence).toBeGreaterThan(lostAt + TTL);
  });

  it('tells of a namespace that is empty', async () => {
    const { server, time, lease } = setUp();
    const held = await lease();
    // The event of the new namespace itself is over.
    await time.advance(10);
    let isTold = false;
    held.on('empty-namespace', () => {
      isTold = true;
    });
    server.goBack(new Map());
    await time.advance(ONE_RENEWAL);
    expect(isTold).toBe(true);
  });

  it('gives another node id after a while, though it lets nobody make the namespace wait, as a server does', async () => {
    const { server, time, lease } = setUp(2);
    const inner = server.connect();
    const store = server.connect({
      swapLease: async (namespace, expected, next) => {
        if (next.id === -1 && expected?.label === next.label)
          throw new InvalidOptionError('only its epoch may grow');
        return inner.swapLease(namespace, expected, next);
      },
    });
    const held = await lease({}, store);
    const before = server.copy();
    await time.advance(2 * TTL);
    server.goBack(before);
    const lostAt = time.now;
    await time.advance(ONE_RENEWAL);
    expect(held.state).toBe('fenced');
    for (let ms = 0; held.state === 'fenced' && ms < 4 * TTL; ms += 100) await time.advance(100);
    // It waits alone until all windows have ended that others may have lost.
    expect(time.now).toBeGreaterThanOrEqual(lostAt + TTL + 20_000);
    expect(held.state).toBe('active');
  });

  it('stops an earlier holder that goes on with what it had, at its next renewal', async () => {
    const { server, time, lease } = setUp(2);
    const asleep = new FakeTime(time.now);
    const earlier = await lease({ timer: asleep, reacquire: false });
    await time.advance(TTL + 1000);
    const before = server.copy();
    const held = await lease();
    expect([earlier.id, held.id]).toEqual([0, 0]);
    server.goBack(before);
    // The process that was stopped goes on, and renews first.
    await asleep.advance(ONE_RENEWAL);
    expect(earlier.state).toBe('active');
    await time.advance(ONE_RENEWAL);
    expect(held.state).toBe('fenced');
    await asleep.advance(ONE_RENEWAL);
    expect(earlier.state).toBe('fenced');
  });
});

describe('a store that has lost nothing', () => {
  const errorsOf = (held: Lease) => {
    const errors: unknown[] = [];
    held.on('renewal-failed', (error) => errors.push(error));
    return errors;
  };

  it('is not doubted by a release that was carried out twice', async () => {
    const { server, time, lease } = setUp();
    const inner = server.connect();
    const store = server.connect({
      // The driver sends each release again, and tells the answer to the second one.
      swapLease: async (...args) => {
        const isDone = await inner.swapLease(...args);
        return args[2].owner === null && args[2].id === 0 ? inner.swapLease(...args) : isDone;
      },
    });
    const held = await lease({}, store);
    const errors = errorsOf(held);
    await time.advance(1000);
    await held.release();
    expect(errors).toEqual([]);
    expect(server.record('n', -1)?.fence).toBe(0);
    expect(server.record('n', 0)).toMatchObject({ owner: null, fence: held.from });
  });

  it('is not doubted by fence() in a copy, after the original was released', async () => {
    const { server, time, lease } = setUp();
    const held = await lease({ reacquire: false });
    const errors = errorsOf(held);
    const record = server.record('n', 0) as LeaseRecord;
    const left = { ...record, owner: null, fence: held.from, expiresAt: 0 };
    await server.connect().swapLease('n', record, left);
    held.fence();
    await time.advance(10);
    expect(errors).toEqual([]);
    expect(server.record('n', 0)).toEqual(left);
  });

  it.each([
    ['in time', 0],
    ['late', 16_000],
  ])('lets holders continue after it has failed over, though they renew %s afterwards', async (_, pause) => {
    const { server, time, lease } = setUp(2);
    const asleep = new FakeTime(time.now);
    const held = await lease({ timer: asleep });
    await lease();
    const errors = errorsOf(held);
    server.lineage = 'second';
    const both = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 100) {
        await time.advance(100);
        await asleep.advance(100);
      }
    };
    await both(TTL);
    await time.advance(pause);
    await both(TTL);
    expect(errors).toEqual([]);
    expect(held).toMatchObject({ state: 'active', term: 1 });
  });

  it.each([
    ['another process has founded the namespace for it', false],
    ['its own try to found the namespace has failed', true],
    ['somebody has made the namespace wait since, and that is over', false],
  ])('lets a holder continue that renews late, long after a failover: %s', async (why, isFailing) => {
    const { server, time, lease } = setUp(2);
    const asleep = new FakeTime(time.now);
    let isDown = false;
    const inner = server.connect();
    const store = server.connect({
      swapLease: async (...args) => {
        if (isDown && args[2].id === -1) throw new StoreError('no answer');
        return inner.swapLease(...args);
      },
    });
    const held = await lease({ timer: asleep }, store);
    const errors = errorsOf(held);
    const both = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 100) {
        await time.advance(100);
        await asleep.advance(100);
      }
    };
    isDown = isFailing;
    if (why.startsWith('another')) await lease();
    if (why.startsWith('somebody')) await foundAgain(inner, 'n', 'restored');
    else server.lineage = 'second';
    await both(TTL / 2);
    isDown = false;
    await both(3 * TTL);
    await time.advance(16_000);
    await both(TTL);
    expect(errors).toEqual([]);
    expect(held).toMatchObject({ state: 'active', term: 1 });
    expect(server.record('n', -1)?.label).toBe(server.lineage);
  });
});

describe('a store that has failed over', () => {
  it('keeps the lease of whoever has waited for what is lost, though an earlier holder comes late', async () => {
    const { server, time, lease } = setUp();
    for (let i = 0; i < 3; i++) await (await lease()).release();
    const asleep = new FakeTime(time.now);
    const late = await lease({ timer: asleep });
    const waiting = {
      id: -1,
      owner: 'x',
      epoch: TTL,
      fence: time.now + 50_000,
      expiresAt: 0,
      label: 'second',
    };
    server.goBack(new Map([['n', new Map([[-1, waiting]])]]), 'second');
    const lawful = await meanwhile(time, lease());
    expect([late.term, lawful.term]).toEqual([4, 1]);
    const { until } = lawful;
    await asleep.advance(ONE_RENEWAL);
    await time.advance(ONE_RENEWAL);
    expect(late.state).toBe('fenced');
    expect(lawful).toMatchObject({ id: 0, term: 1, state: 'active' });
    expect(lawful.until).toBeGreaterThan(until);
  });

  it('and back ends a lease that is renewed late, because the first lineage comes again', async () => {
    const { server, time, lease } = setUp();
    const asleep = new FakeTime(time.now);
    const late = await lease({ timer: asleep, reacquire: false });
    await time.advance(TTL + 1000);
    server.lineage = 'second';
    const acquiring = lease();
    await time.advance(TTL + 10_000);
    const before = server.copy();
    const held = await meanwhile(time, acquiring);
    server.goBack(before, 'first');
    await asleep.advance(ONE_RENEWAL);
    expect([late.state, held.state]).toEqual(['fenced', 'active']);
  });

  it.each(['first', 'second'])(
    'and back ends such a lease, too, when others have founded the namespace since: it carries the %s lineage',
    async (label) => {
      const { server, time, lease } = setUp();
      const asleep = new FakeTime(time.now);
      const late = await lease({ timer: asleep, reacquire: false });
      await time.advance(TTL / 2 + 1000);
      const birth = server.record('n', -1) as LeaseRecord;
      const founded = { ...birth, owner: 'another', label, fence: time.now + 50_000 };
      server.lineage = label;
      await server.connect().swapLease('n', birth, founded);
      server.lineage = 'first';
      await asleep.advance(ONE_RENEWAL);
      expect(late.state).toBe('fenced');
    },
  );

  it('and back does not take a namespace for new that it has lost', async () => {
    const { server, time, lease } = setUp();
    await lease({ namespace: 'old' });
    server.lineage = 'second';
    await time.advance(TTL + 10_000);
    const before = server.copy();
    const lost = await meanwhile(time, lease());
    server.goBack(before, 'first');
    const next = await meanwhile(time, lease());
    expect(next.from).toBeGreaterThanOrEqual(lost.until);
  });

  it('during an acquisition makes it wait, and does not fail it', async () => {
    const { server, time, lease } = setUp();
    await (await lease()).release();
    const store = server.connect();
    const changing = server.connect({
      moment: async (namespace) => {
        const moment = await store.moment?.(namespace);
        server.lineage = 'second';
        return moment as { now: number; lineage: string };
      },
    });
    const begun = time.now;
    const held = await meanwhile(time, lease({}, changing));
    expect(held.from).toBeGreaterThanOrEqual(begun + TTL);
  });
});
