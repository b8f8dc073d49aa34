import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Block, type SequenceDefinition, type SequenceStore, StoreError } from 'idsmith';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SequencePast } from '../../src/lineage/judge.ts';
import type { BareRecords } from '../../src/sequence/past.ts';
import { type SequenceRows, sequenceStore } from '../../src/sequence/rows.ts';
import { RewindingServer } from '../lineage/rewinding-store.ts';

// Rows of a store that tells its lineage. The default block size is 20, so a ceiling is 20,000 ids ahead.

let server: RewindingServer;
let heard: unknown[];
const listen = (message: unknown) => {
  if ((message as { event: string }).event === 'went-back') heard.push(message);
};
beforeEach(() => {
  server = new RewindingServer();
  heard = [];
  subscribe('idsmith:store', listen);
});
afterEach(() => {
  unsubscribe('idsmith:store', listen);
  vi.useRealTimers();
});

/** Another life of the server, with all that it had. */
const promote = () => server.promote(server.copy());

/** Rows of the server, with some operations replaced. */
const rowsWith = (change: (rows: SequenceRows) => Partial<SequenceRows> = () => ({})): SequenceRows => {
  const rows = server.rows();
  return { ...rows, ...change(rows) };
};

async function defined(definition: Partial<SequenceDefinition> = {}, rows = rowsWith()) {
  const store = sequenceStore(rows);
  await store.defineSequence({ name: 'orders', ...definition });
  return store;
}

const firstOf = async (block: Promise<Block>) => (await block).first;

/** Runs `interfere` once, before the first call of an operation. */
function once<Args extends unknown[], T>(call: (...args: Args) => Promise<T>, interfere: () => unknown) {
  let isDone = false;
  return async (...args: Args): Promise<T> => {
    if (!isDone) {
      isDone = true;
      await interfere();
    }
    return call(...args);
  };
}

describe('An allocation', () => {
  it('reads the row once, and its past once', async () => {
    await defined();
    let reads = 0;
    const store = sequenceStore(
      rowsWith((rows) => ({
        read: (name) => {
          reads++;
          return rows.read(name);
        },
      })),
    );
    await store.allocate('orders', 1);
    await store.allocate('orders', 1);
    expect(reads).toBe(1);
  });

  it('continues at the ceiling after the store has gone back, and tells of it', async () => {
    const store = await defined();
    const block = await store.allocate('orders', 1);
    promote();
    expect(await firstOf(store.allocate('orders', 1))).toBe(20_001n);
    expect(heard).toEqual([expect.objectContaining({ sequence: 'orders', next: 20_001n })]);
    expect(store.warnings?.()).toContainEqual(expect.stringContaining('It continues at 20001'));
    expect(await store.giveBack?.('orders', block)).toBe(false);
  });

  it('continues at the ceiling when the store has failed over and back, to a lineage that the process knows', async () => {
    const idle = await defined();
    const busy = sequenceStore(rowsWith());
    await idle.allocate('orders', 1);
    promote();
    await busy.allocate('orders', 1);
    const before = server.copy();
    expect(await firstOf(busy.allocate('orders', 1))).toBe(20_021n);
    server.promote(before, 'life 0');
    expect(await firstOf(idle.allocate('orders', 1))).toBe(40_001n);
    expect(heard).toHaveLength(2);
  });

  it('looks after the ceiling of a sequence that was removed and defined again', async () => {
    const store = await defined();
    await store.allocate('orders', 1);
    await store.alterSequence('orders', { next: 1_000_000 });
    await store.removeSequence('orders');
    await store.defineSequence({ name: 'orders' });
    for (let i = 0; i < 3; i++) await store.allocate('orders', 600);
    await store.settled?.();
    expect(server.copy().pasts.get('orders')?.ceiling).toBeGreaterThan(36_001n);
    expect(store.warnings?.()).toEqual([expect.stringContaining('could repeat numbers before 12001.')]);
  });

  it('continues at the ceiling, too, when the sequence had reached a limit that was raised in what is lost', async () => {
    const store = await defined({ max: 100 });
    await store.allocate('orders', 5);
    await store.settled?.();
    const before = server.copy();
    await store.alterSequence('orders', { max: 1000 });
    expect(await firstOf(store.allocate('orders', 1))).toBe(101n);
    server.promote(before);
    await expect(store.allocate('orders', 1)).rejects.toMatchObject({ code: 'SEQUENCE_EXHAUSTED' });
    await store.alterSequence('orders', { max: 1000 });
    expect(await firstOf(store.allocate('orders', 1))).toBe(141n);
  });

  it('leaves it to another process to tell, if that one has moved the sequence', async () => {
    await defined();
    promote();
    const other = sequenceStore(rowsWith());
    const store = sequenceStore(
      rowsWith((rows) => ({ swap: once(rows.swap, () => other.allocate('orders', 1)) })),
    );
    expect(await firstOf(store.allocate('orders', 1))).toBe(20_021n);
    expect(store.warnings?.()).not.toContainEqual(expect.stringContaining('It continues'));
    expect(heard).toHaveLength(1);
  });

  it('moves the sequence once more if the store goes back again meanwhile, and tells of that alone', async () => {
    await defined();
    promote();
    const store = sequenceStore(
      rowsWith((rows) => ({
        swap: async (expected, next) => {
          const isSwapped = await rows.swap(expected, next);
          if (server.lineage === 'life 1') promote();
          return isSwapped;
        },
      })),
    );
    await store.allocate('orders', 1);
    expect(heard).toHaveLength(1);
  });

  it('gives up when the store goes back again and again, after pauses', async () => {
    await defined();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let reads = 0;
    const store = sequenceStore(
      rowsWith((rows) => ({
        read: async (name) => {
          reads++;
          const row = await rows.read(name);
          promote();
          return row;
        },
      })),
    );
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const failure = store.allocate('orders', 1).catch((error) => error);
    await new Promise((resolve) => setImmediate(resolve));
    // The second time without a pause, the third after one.
    expect(reads).toBe(2);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await failure).toBeInstanceOf(StoreError);
    expect(await failure).toMatchObject({
      reason: 'CONFLICT',
      message:
        'the store changed its lineage 100 times while sequence "orders" was read or defined: try again later',
    });
    expect([reads, timers.mock.calls.length]).toEqual([100, 99]);
  });

  it('is told of when it is not covered, near the end of the sequence, too', async () => {
    const store = await defined({ min: 1, max: 65 });
    expect((await store.allocate('orders', 3)).count).toBe(60);
    expect(store.warnings?.()).toEqual([expect.stringContaining('could repeat numbers before 61.')]);
  });

  it('tells the lineage under which it was read', async () => {
    const store = await defined();
    expect(store.lineageRead?.()).toBeUndefined();
    promote();
    await store.describeSequence('orders');
    expect(store.lineageRead?.()).toBe('life 1');
  });
});

describe('A definition', () => {
  it('replaces what was kept of an earlier sequence of its name when it returns', async () => {
    const rows = rowsWith();
    const past = rows.past as NonNullable<SequenceRows['past']>;
    const write: BareRecords['write'] = async (...args) => {
      // The time that a database needs.
      await new Promise((resolve) => setImmediate(resolve));
      return (past.write as BareRecords['write'])(...args);
    };
    const store = await defined({ start: 5000 }, { ...rows, past: { ...past, write } as typeof past });
    await store.removeSequence('orders');
    await store.defineSequence({ name: 'orders' });
    expect(server.copy().pasts.get('orders')).toMatchObject({ base: 1n, ceiling: 20_001n });
  });
});

describe('An alteration', () => {
  it('comes after the sequence has moved beyond a loss, whatever it says', async () => {
    const store = await defined();
    promote();
    await expect(store.alterSequence('orders', { next: 500 })).rejects.toThrow('20001');
    expect((await store.alterSequence('orders', { blockSize: 5 })).next).toBe(20_001n);
    expect((await store.alterSequence('orders', { next: 30_000 })).next).toBe(30_000n);
  });

  it('is told of when it moves the sequence beyond its ceiling', async () => {
    const store = await defined();
    await store.alterSequence('orders', { next: 900_000 });
    expect(store.warnings?.()).toEqual([expect.stringContaining('could repeat numbers before 900000.')]);
  });
});

/** Records without ceilings, on rows of the server. */
function bareRows(change?: (rows: SequenceRows) => Partial<SequenceRows>) {
  const kept = new Map<string, SequencePast>();
  const distrusted: string[] = [];
  const past: BareRecords = {
    hasCeilings: false,
    read: async (name) => ({ now: 0, lineage: server.lineage, past: kept.get(name) }),
    write: async (name, expected, next) => {
      if (kept.get(name) !== expected || next.lineage !== server.lineage) return false;
      kept.set(name, next);
      return true;
    },
    forgotten: (name) => new StoreError(`${name} waits for a person`),
    distrust: async (name) => {
      distrusted.push(name);
      kept.set(name, { lineage: 'nobody', ceiling: undefined });
    },
  };
  return { rows: { ...rowsWith(change), past }, distrusted, kept };
}

describe('A store without ceilings that has gone back', () => {
  it('waits for a person, who says the next number', async () => {
    const { rows } = bareRows();
    const store = await defined({}, rows);
    await store.allocate('orders', 1);
    promote();
    await expect(store.allocate('orders', 1)).rejects.toThrow('orders waits for a person');
    await expect(store.alterSequence('orders', { blockSize: 5 })).rejects.toThrow(
      'orders waits for a person',
    );
    expect((await store.alterSequence('orders', { next: 700 })).next).toBe(700n);
    expect(await firstOf(store.allocate('orders', 1))).toBe(700n);
  });

  it('asks again if it goes back again while the person speaks', async () => {
    const { rows, kept } = bareRows((own) => ({
      advance: async (...args) => {
        const before = await own.advance(...args);
        if (server.lineage === 'life 1') promote();
        return before;
      },
    }));
    const store = await defined({}, rows);
    await store.allocate('orders', 1);
    promote();
    expect((await store.alterSequence('orders', { next: 700 })).next).toBe(700n);
    expect(kept.get('orders')?.lineage).toBe('life 2');
    expect(await firstOf(store.allocate('orders', 1))).toBe(700n);
  });

  it('is not moved by a process that has seen more', async () => {
    const { rows, distrusted } = bareRows();
    const store = await defined({}, rows);
    const instead = await store.allocate('orders', 1);
    expect(await store.restoreSequence?.('orders', { seen: 500n, instead })).toEqual({ next: undefined });
    expect(distrusted).toEqual([]);
  });

  it('waits for a person after a restore', async () => {
    const { rows, distrusted } = bareRows();
    const store = await defined({}, rows);
    expect(await store.restoreSequence?.('orders')).toEqual({ next: undefined });
    expect(distrusted).toEqual(['orders']);
    await expect(sequenceStore(rows).allocate('orders', 1)).rejects.toThrow('orders waits for a person');
  });
});

describe('A sequence that is restored', () => {
  it('goes on at its ceiling, with a new one, and takes nothing back', async () => {
    const store = await defined();
    const block = await store.allocate('orders', 1);
    expect(await store.restoreSequence?.('orders')).toEqual({ next: 20_001n });
    expect(server.copy().pasts.get('orders')).toMatchObject({ base: 20_001n, ceiling: 40_001n });
    expect(await store.giveBack?.('orders', block)).toBe(false);
    expect(await firstOf(store.allocate('orders', 1))).toBe(20_001n);
  });

  it('goes on beyond a number that a process has seen, if the process got its numbers from this one', async () => {
    const store = await defined();
    const instead = await store.allocate('orders', 1);
    expect(await store.restoreSequence?.('orders', { seen: 90_000n, instead })).toEqual({ next: 110_000n });
    // Once: the next process finds another generation.
    expect(await store.restoreSequence?.('orders', { seen: 90_000n, instead })).toEqual({ next: undefined });
    expect((await store.describeSequence('orders')).next).toBe(110_000n);
  });

  it.each([
    [{ cycle: true, max: 100 }, 21n],
    [{ start: 2n ** 63n - 20n }, 2n ** 63n],
  ])('stays where it is if nothing of it can repeat by accident: %o', async (definition, next) => {
    const store = await defined(definition);
    await store.allocate('orders', 1);
    const before = server.copy().rows.get('orders');
    expect(await store.restoreSequence?.('orders')).toEqual({ next });
    expect(server.copy().rows.get('orders')).toEqual(before);
  });

  it('is looked at again when others allocate meanwhile', async () => {
    await defined();
    const other = sequenceStore(rowsWith());
    const store = sequenceStore(
      rowsWith((rows) => ({ swap: once(rows.swap, () => other.alterSequence('orders', { blockSize: 7 })) })),
    );
    expect(await store.restoreSequence?.('orders')).toEqual({ next: 20_001n });
    expect(await store.describeSequence('orders')).toMatchObject({ next: 20_001n, blockSize: 7 });
  });

  it('is moved again when the store goes back before its new ceiling is written', async () => {
    await defined();
    const rows = rowsWith();
    const past = rows.past as NonNullable<SequenceRows['past']>;
    const write = once(past.write as BareRecords['write'], promote);
    const store = sequenceStore({ ...rows, past: { ...past, write } as typeof past });
    expect(await store.restoreSequence?.('orders')).toEqual({ next: 20_001n });
    expect(server.copy().pasts.get('orders')?.lineage).toBe('life 1');
  });

  it('is none where nothing is known of it', async () => {
    const { past: _, ...rows } = server.rows();
    const store = await defined({}, rows);
    expect(await store.restoreSequence?.('orders')).toEqual({ next: undefined });
    await expect(store.restoreSequence?.('absent')).rejects.toThrow('absent');
  });
});

describe('Numbers that are given back', () => {
  it('are taken in the same life of the store alone', async () => {
    const store = await defined();
    const block = await store.allocate('orders', 1);
    promote();
    expect(await store.giveBack?.('orders', block)).toBe(false);
    const after = await store.allocate('orders', 1);
    expect(await store.giveBack?.('orders', after)).toBe(true);
    await store.removeSequence('orders');
    expect(await store.giveBack?.('orders', after)).toBe(false);
  });
});

describe('A definition', () => {
  const nextOf = async (store: SequenceStore, name = 'orders') => (await store.describeSequence(name)).next;

  it('that was lost with its numbers begins beyond them, whoever makes it again', async () => {
    const store = await defined({ name: 'first' });
    const replica = server.copy();
    await store.defineSequence({ name: 'orders' });
    const lost = await store.allocate('orders', 900);
    server.promote(replica);
    const again = await defined();
    expect(await again.describeSequence('orders')).toMatchObject({ start: 1n, next: 20_001n });
    expect(await firstOf(again.allocate('orders', 1))).toBeGreaterThan(lost.first + 900n * 20n);
  });

  it('is as far on after a database has failed over and back, if anything was used in between', async () => {
    const store = await defined({ name: 'first' });
    await store.allocate('first', 1);
    promote();
    await store.allocate('first', 1);
    server.promote(server.copy(), 'life 0');
    // Two losses, as far as anybody knows.
    expect(await nextOf(await defined())).toBe(40_001n);
  });

  it('is made again in the lineage that the store has got meanwhile', async () => {
    await defined({ name: 'first' });
    const store = await defined(
      {},
      rowsWith((rows) => ({ insert: once(rows.insert, promote) })),
    );
    expect(await nextOf(store)).toBe(20_001n);
    expect(server.copy().pasts.get('orders')).toMatchObject({ lineage: 'life 1', ceiling: 40_001n });
    expect(await firstOf(store.allocate('orders', 1))).toBe(20_001n);
  });

  it('is given up when the store changes its lineage again and again, after pauses', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let inserts = 0;
    const insert = async () => {
      inserts++;
      return false;
    };
    const failure = defined(
      {},
      rowsWith(() => ({ insert })),
    ).catch((error) => error);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await failure).toMatchObject({ reason: 'CONFLICT' });
    expect(inserts).toBe(100);
  });

  it('begins where a person says: at a start beyond the loss, or everywhere once nothing is missing', async () => {
    const store = await defined({ name: 'first' });
    promote();
    await store.defineSequence({ name: 'orders', start: 7, lost: true });
    expect(await nextOf(store)).toBe(7n);
    await store.defineSequence({ name: 'later', notBefore: Date.now() + 3_600_000 });
    expect(await nextOf(store, 'later')).toBe(1n);
    await store.defineSequence({ name: 'lost' });
    expect(await nextOf(store, 'lost')).toBe(20_001n);
    await store.confirmNames?.();
    await store.defineSequence({ name: 'new' });
    expect(await nextOf(store, 'new')).toBe(1n);
    await store.doubtNames?.();
    await store.defineSequence({ name: 'doubted' });
    expect(await nextOf(store, 'doubted')).toBe(20_001n);
  });

  it('that was lost twice begins beyond both', async () => {
    const store = await defined({ name: 'first' });
    const given: bigint[] = [];
    for (let losses = 0; losses < 4; losses++) {
      const replica = server.copy();
      await store.defineSequence({ name: 'orders', blockSize: 1 });
      for (let i = 0; i < 5; i++) given.push(await firstOf(store.allocate('orders', 1)));
      server.promote(replica);
      await store.allocate('first', 1);
    }
    expect(new Set(given).size).toBe(given.length);
    expect(given.at(-1)).toBe(3005n);
  });

  it('of a sequence that is there is refused for that reason, also where its range is too small to begin elsewhere', async () => {
    const small = { blockSize: 50, max: 100 };
    const store = await defined(small);
    promote();
    await expect(defined(small)).rejects.toMatchObject({ code: 'SEQUENCE_EXISTS' });
    await store.removeSequence('orders');
    await expect(defined(small)).rejects.toMatchObject({ code: 'STORE_WENT_BACK' });
  });

  it('finds another one of its name that was made meanwhile', async () => {
    const other = sequenceStore(rowsWith());
    const rows = rowsWith((own) => ({
      insert: once(own.insert, () => other.defineSequence({ name: 'orders', start: 5 })),
    }));
    await expect(defined({}, rows)).rejects.toMatchObject({ code: 'SEQUENCE_EXISTS' });
    expect(await nextOf(other)).toBe(5n);
  });

  it.each([-1, 1.5, '2026'])('has no notBefore of %j', async (notBefore) => {
    await expect(defined({ notBefore } as object)).rejects.toThrow('notBefore must be a whole number');
  });
});
