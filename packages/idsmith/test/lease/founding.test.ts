import { type LeaseRecord, type LeaseStore, StoreError } from 'idsmith';
import { beforeEach, describe, expect, it } from 'vitest';
import { foundAgain, founding } from '../../src/lease/founding.ts';
import { STORE_NAMESPACE } from '../../src/lease/namespace.ts';
import type { NamespaceView } from '../../src/lease/namespace-store.ts';
import type { LeaseSettings } from '../../src/lease/options.ts';
import { sameRecord } from '../../src/lease/port.ts';
import { systemRandom } from '../../src/random.ts';
import { systemTimer } from '../../src/support/timer.ts';

/** Records in memory, of a store whose lineage and clock the test sets. */
class Server {
  readonly births = new Map<string, LeaseRecord>();
  lineage: string | undefined = 'b';
  now = 5000;
  moments = 0;
  swaps = 0;
  /** Called before a swap: others may be quicker. */
  beforeSwap = () => {};

  store(more: Partial<LeaseStore> = {}): LeaseStore {
    return {
      durable: true,
      listLeases: async (namespace) => [...(this.births.get(namespace) ? [this.births.get(namespace)!] : [])],
      swapLease: async (namespace, expected, next) => {
        this.swaps++;
        this.beforeSwap();
        // The time that a database needs.
        await new Promise((resolve) => setImmediate(resolve));
        if (!sameRecord(this.births.get(namespace), expected)) return false;
        this.births.set(namespace, next);
        return true;
      },
      moment: async () => {
        this.moments++;
        return { now: this.now, lineage: this.lineage };
      },
      ...more,
    };
  }
}

let server: Server;
beforeEach(() => {
  server = new Server();
});

const birthOf = (label: string, more: Partial<LeaseRecord> = {}): LeaseRecord => ({
  id: -1,
  owner: 'first',
  epoch: 300,
  fence: 0,
  expiresAt: 0,
  label,
  ...more,
});
const HELD: LeaseRecord = { id: 0, owner: 'x', epoch: 1, fence: 9, expiresAt: 10, label: '' };

/** The birth record that a namespace needs. Windows are 300 ms at most, unless told otherwise, and clocks differ by 20. */
function found(
  view: Partial<NamespaceView> = {},
  { durable = true, ...more }: Partial<LeaseSettings> & { durable?: boolean; own?: Partial<LeaseStore> } = {},
) {
  const { own, ...settings } = more;
  const store = server.store({ durable, ...own });
  const times = { ttl: 200, maxTtl: 300, maxSkew: 20 };
  const clock = { now: () => server.now };
  const rest = { namespace: 'orders', clock, random: systemRandom, timer: systemTimer, lostWrite: undefined };
  const seen = { records: [], birth: undefined, isWhole: true, now: 5000, lineage: 'b', readAt: 0 };
  return founding(
    { store, ...times, ...rest, ...settings } as unknown as LeaseSettings,
    { first: 0, end: 8, ...seen, ...view } as NamespaceView,
  );
}

/** A birth record of the lineage of the store. */
const born = (fence: number, epoch = 300) => birthOf('b', { fence, epoch, owner: expect.any(String) });

describe('A namespace in the lineage that it carries', () => {
  it('needs no other record', async () => {
    expect(await found({ birth: birthOf('b') })).toBeUndefined();
  });

  it('notes a longer ttl, where others go by the note after a loss', async () => {
    const birth = birthOf('b', { fence: 77 });
    const noted = await found({ birth }, { ttl: 301 });
    expect(noted).toEqual(born(77, 301));
    expect((noted as LeaseRecord).owner).not.toBe('first');
    expect(await found({ birth }, { ttl: 300 })).toBeUndefined();
    expect(await found({ birth }, { ttl: 301, durable: false })).toBeUndefined();
  });

  it('waits after a process has found a write of its own missing, unless a later wait covers that', async () => {
    expect(await found({ birth: birthOf('b') }, { lostWrite: 4000 })).toEqual(born(5340));
    expect(await found({ birth: birthOf('b', { fence: 4339 }) }, { lostWrite: 4000 })).toEqual(born(5340));
    expect(await found({ birth: birthOf('b', { fence: 4340 }) }, { lostWrite: 4000 })).toBeUndefined();
  });
});

describe('A namespace of another lineage', () => {
  it('waits for the longest window that anybody may have', async () => {
    expect(await found({ birth: birthOf('a') })).toEqual(born(5340));
    expect(await found({ birth: birthOf('a', { epoch: 700 }) })).toEqual(born(5740, 700));
    expect(await found({ birth: birthOf('a') }, { ttl: 500 })).toEqual(born(5540, 500));
  });

  it('lets the store itself carry the new lineage, so that others do not take what is lost for new', async () => {
    server.births.set(STORE_NAMESPACE, birthOf('a'));
    await found({ birth: birthOf('a') });
    expect(server.births.get(STORE_NAMESPACE)).toEqual(born(5340));
    await found({ birth: birthOf('a') });
    expect(server.swaps).toBe(1);
  });
});

describe('A namespace without a lineage', () => {
  it.each([
    ['has records of an earlier version', { records: [HELD] }],
    ['may have some, beyond the page that was read', { isWhole: false }],
  ])('takes that of a store that keeps its writes, if it %s', async (_, view) => {
    expect(await found(view)).toEqual(born(0));
    expect(await found({ ...view, birth: birthOf('namespace', { fence: 77 }) })).toEqual(born(77));
    expect(await found(view, { durable: false })).toEqual(born(5340));
    expect(server.swaps).toBe(0);
  });

  it('is new in a store that is new: nobody waits, and the store has a record from then on', async () => {
    expect(await found()).toEqual(born(0));
    expect(server.births.get(STORE_NAMESPACE)).toEqual(born(0));
    expect(await found({ records: [birthOf('namespace')] })).toEqual(born(0));
    // The answer that told the lineage is as good as another one.
    expect([server.moments, server.swaps]).toEqual([0, 1]);
  });

  it('is new in a store of the same lineage, and begins no earlier than the store', async () => {
    server.births.set(STORE_NAMESPACE, birthOf('b', { fence: 9000 }));
    expect(await found()).toEqual(born(9000));
    // Whoever wrote the record has not waited for windows of 500 ms.
    expect(await found({}, { ttl: 500 })).toEqual(born(9200, 500));
    server.births.set(STORE_NAMESPACE, birthOf('b', { fence: 9000, epoch: 700 }));
    expect(await found()).toEqual(born(9000));
    server.births.set(STORE_NAMESPACE, birthOf('b'));
    expect(await found({}, { ttl: 500 })).toEqual(born(0, 500));
    expect(server.swaps).toBe(0);
  });

  it('waits in a store of another lineage, whose record notes that', async () => {
    server.births.set(STORE_NAMESPACE, birthOf('a', { epoch: 700 }));
    expect(await found()).toEqual(born(5740));
    expect(server.births.get(STORE_NAMESPACE)).toEqual(born(5740, 700));
    // A birth record is no lease of an earlier version.
    expect(await found({ records: [birthOf('namespace')] })).toEqual(born(5740));
  });

  it('is left to others who are quicker', async () => {
    server.beforeSwap = () => server.births.set(STORE_NAMESPACE, birthOf('b'));
    expect(await found()).toBe('rivals');
  });

  it('waits in a store that can forget, unless the store knows that it is new', async () => {
    expect(await found({}, { durable: false })).toEqual(born(5340));
    const lost = { isNewNamespace: async () => false };
    expect(await found({}, { durable: false, own: lost })).toEqual(born(5340));
    expect(server.swaps).toBe(0);
    // The record of the store may be on another node, which has a lineage and a clock of its own, and may be lost by itself.
    server.lineage = 'c';
    server.now = 6000;
    const isNew = { isNewNamespace: async () => true };
    expect(await found({}, { durable: false, own: isNew })).toEqual(born(6340));
    expect(server.births.get(STORE_NAMESPACE)).toMatchObject({ label: 'c', fence: 6340 });
    server.births.set(STORE_NAMESPACE, birthOf('c', { fence: 9000 }));
    expect(await found({}, { durable: false, own: isNew })).toEqual(born(9000));
  });
});

describe('A namespace in a store that cannot tell', () => {
  it('needs a record only if the store can forget: without a date at first', async () => {
    const view = { lineage: undefined };
    expect(await found(view)).toBeUndefined();
    const undated = (await found(view, { durable: false })) as LeaseRecord;
    expect(undated.id).toBe(-1);
    const dated = (await found({ ...view, birth: undated }, { durable: false })) as LeaseRecord;
    expect(dated.fence).toBeGreaterThanOrEqual(5340);
    expect(await found({ ...view, birth: dated }, { durable: false })).toBeUndefined();
  });
});

describe('A person', () => {
  it('says that a namespace is new: then nobody waits', async () => {
    server.births.set('orders', birthOf('a', { epoch: 700, fence: 9000 }));
    expect(await foundAgain(server.store({ maxTtl: 300 }), 'orders', 'new')).toBe(0);
    expect(server.births.get('orders')).toEqual(born(0, 700));
  });

  it('says that it was restored: then everybody waits for the longest window, and for clocks that differ as far as usual', async () => {
    server.now = 5000.5;
    expect(await foundAgain(server.store({ maxTtl: 300 }), 'orders', 'restored')).toBe(5001 + 300 + 20_000);
    expect(server.births.get('orders')).toEqual(born(25_301));
    expect(await foundAgain(server.store({ maxTtl: 300 }), 'orders', 'restored', 900)).toBe(
      5001 + 900 + 20_000,
    );
    // Now the record notes 900 ms.
    expect(await foundAgain(server.store({ maxTtl: 300 }), 'orders', 'restored', 10)).toBe(
      5001 + 900 + 20_000,
    );
    expect(await foundAgain(server.store(), 'other', 'restored')).toBe(5001 + 30_000 + 20_000);
  });

  it('says so of a store that cannot tell its lineage, by its clock or by ours', async () => {
    const { moment: _, ...bare } = server.store({ maxTtl: 300 });
    expect(await foundAgain({ ...bare, now: async () => 7000 }, 'orders', 'restored')).toBe(27_300);
    expect(server.births.get('orders')?.label).toBe('namespace');
    const before = Date.now();
    const floor = await foundAgain(bare, 'orders', 'restored');
    expect(floor - 20_300).toBeGreaterThanOrEqual(before);
    expect(floor - 20_300).toBeLessThanOrEqual(Date.now());
  });

  it('is asked to try again when others are quicker, eight times', async () => {
    let readings = 0;
    server.beforeSwap = () => server.births.set('orders', birthOf('b', { owner: `other ${server.swaps}` }));
    const readLeases = async (...args: unknown[]) => {
      readings++;
      expect(args).toEqual(['orders', 0, 0]);
      return [HELD, ...(server.births.get('orders') ? [server.births.get('orders')!] : [])];
    };
    const failure = await foundAgain(server.store({ readLeases }), 'orders', 'new').catch((error) => error);
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure).toMatchObject({ reason: 'CONFLICT' });
    expect([readings, server.swaps]).toEqual([8, 8]);
    server.beforeSwap = () => {};
    expect(await foundAgain(server.store({ readLeases }), 'orders', 'new')).toBe(0);
  });
});
