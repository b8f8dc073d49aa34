import {
  type Block,
  NoSuchSequenceError,
  type SequenceChanges,
  type SequenceInfo,
  StoreWentBackError,
} from 'idsmith';
import { describe, expect, it } from 'vitest';
import { STORE_NAMESPACE } from '../../src/lease/namespace.ts';
import { makeStore } from '../../src/stores/make-store.ts';

type Methods = Parameters<typeof makeStore>[1];

/** A backend with one sequence, which does what the test says: it goes back, starts over, or answers late. */
class Backend {
  next = 1n;
  step = 1;
  cycle = false;
  /** The answers that are held back, to be let go by the test. */
  held: (() => void)[] | undefined;
  readonly altered: SequenceChanges[] = [];
  described = 0;

  /** A store on it. */
  open(more: Partial<Methods> = {}) {
    const info = () => ({ next: this.next, cycle: this.cycle }) as SequenceInfo;
    return makeStore('memory', {
      listLeases: async () => [],
      swapLease: async () => false,
      defineSequence: async () => {},
      removeSequence: async () => {},
      listSequences: async () => [],
      describeSequence: async () => {
        this.described++;
        return info();
      },
      alterSequence: async (_, changes) => {
        this.altered.push(changes);
        if (changes.next !== undefined) this.next = BigInt(changes.next);
        return info();
      },
      allocate: async (_, count) => {
        const block: Block = { first: this.next, step: this.step, count };
        this.next += BigInt(this.step * count);
        if (this.held) await new Promise<void>((resolve) => this.held?.push(resolve));
        return block;
      },
      ...more,
    });
  }
}

const firstOf = async (block: Promise<Block>) => (await block).first;

describe('A store that gives a number again', () => {
  it('hands out nothing, and moves the sequence beyond what this process has got', async () => {
    const backend = new Backend();
    const store = backend.open();
    await store.allocate('x', 50);
    backend.next = 10n;
    const failure = await store.allocate('x', 5).catch((error) => error);
    expect(failure).toBeInstanceOf(StoreWentBackError);
    expect(failure.message).toContain(
      'sequence "x" gave 10, and this process has got numbers up to 51 before',
    );
    expect(failure.message).toContain('it continues at 51 now');
    expect(backend.altered).toEqual([{ next: 51n }]);
    expect(await firstOf(store.allocate('x', 5))).toBe(51n);
  });

  it('does so, though somebody has failed to remove the sequence', async () => {
    const backend = new Backend();
    const failing = async () => {
      throw new Error('no answer');
    };
    const store = backend.open({ removeSequence: failing });
    await store.allocate('x', 50);
    await expect(store.removeSequence('x')).rejects.toThrow('no answer');
    backend.next = 10n;
    await expect(store.allocate('x', 5)).rejects.toThrow(StoreWentBackError);
  });

  it('may do so if the sequence is gone when somebody removes it once more', async () => {
    const backend = new Backend();
    const gone = async () => {
      throw new NoSuchSequenceError('there is no sequence "x"');
    };
    const store = backend.open({ removeSequence: gone });
    await store.allocate('x', 50);
    await expect(store.removeSequence('x')).rejects.toThrow(NoSuchSequenceError);
    backend.next = 1n;
    expect(await firstOf(store.allocate('x', 5))).toBe(1n);
  });

  it('does so for numbers that descend', async () => {
    const backend = Object.assign(new Backend(), { step: -1, next: 100n });
    const store = backend.open();
    await store.allocate('x', 50);
    backend.next = 90n;
    await expect(store.allocate('x', 5)).rejects.toThrow('it continues at 50 now');
    expect(await firstOf(store.allocate('x', 5))).toBe(50n);
  });

  it('leaves the sequence to whoever has moved it further on meanwhile', async () => {
    const backend = new Backend();
    const store = backend.open({
      describeSequence: async () => ({ next: 900n, cycle: false }) as SequenceInfo,
    });
    await store.allocate('x', 50);
    backend.next = 10n;
    await expect(store.allocate('x', 5)).rejects.toThrow('it continues at 900 now');
    expect(backend.altered).toEqual([]);
  });

  it('moves the sequence to its ceiling where it has one, and further on if more was seen', async () => {
    const backend = new Backend();
    const asked: unknown[] = [];
    let ceiling = 1000n;
    const store = backend.open({
      restoreSequence: async (...args) => {
        asked.push(args);
        backend.next = ceiling;
        return { next: ceiling };
      },
    });
    await store.allocate('x', 50);
    backend.next = 10n;
    await expect(store.allocate('x', 5)).rejects.toThrow('it continues at 1000 now');
    expect(asked).toEqual([['x', { seen: 51n, instead: { first: 10n, step: 1, count: 5 } }]]);
    // Only to see whether it is a cycle.
    expect(backend.described).toBe(1);
    expect(backend.altered).toEqual([]);
    ceiling = 20n;
    backend.next = 10n;
    await expect(store.allocate('x', 5)).rejects.toThrow('it continues at 51 now');
    expect(backend.altered).toEqual([{ next: 51n }]);
  });

  it('asks where the sequence is if the ceiling was left as it is', async () => {
    const backend = new Backend();
    const store = backend.open({ restoreSequence: async () => ({ next: undefined }) });
    await store.allocate('x', 50);
    backend.next = 10n;
    await expect(store.allocate('x', 5)).rejects.toThrow('it continues at 51 now');
  });

  it('says what to do if the sequence cannot be moved', async () => {
    const backend = new Backend();
    const alterSequence = () => Promise.reject(new Error('not allowed'));
    const store = backend.open({ alterSequence });
    await store.allocate('x', 50);
    backend.next = 10n;
    await expect(store.allocate('x', 5)).rejects.toThrow(
      'Nothing was handed out; set its next to 51 or further on, which failed here: not allowed',
    );
  });

  it('hands out nothing twice to calls that were under way when it went back', async () => {
    const backend = Object.assign(new Backend(), { held: [] as (() => void)[] });
    const store = backend.open();
    const one = store.allocate('x', 20);
    backend.next = 11n;
    const two = store.allocate('x', 20);
    backend.held[0]?.();
    expect(await firstOf(one)).toBe(1n);
    backend.held[1]?.();
    await expect(two).rejects.toThrow('sequence "x" gave 11, and this process has got numbers up to 21');
  });

  it('remembers each sequence by itself', async () => {
    const backend = new Backend();
    const store = backend.open();
    await store.allocate('x', 50);
    backend.next = 10n;
    expect(await firstOf(store.allocate('y', 5))).toBe(10n);
  });
});

describe('A store that may give a number again', () => {
  it('does so to calls that were under way: answers overtake each other', async () => {
    const backend = new Backend();
    const store = backend.open();
    await store.allocate('x', 10);
    backend.held = [];
    const [slow, quick] = [store.allocate('x', 10), store.allocate('x', 10)];
    backend.held[1]?.();
    expect(await firstOf(quick)).toBe(21n);
    backend.held[0]?.();
    expect(await firstOf(slow)).toBe(11n);
    // What was seen last is not what was seen furthest on.
    backend.held = undefined;
    backend.next = 21n;
    await expect(store.allocate('x', 1)).rejects.toThrow('numbers up to 31');
  });

  it('does so after the sequence was removed, to calls under way, too', async () => {
    const backend = new Backend();
    const store = backend.open();
    await store.allocate('x', 50);
    backend.held = [];
    backend.next = 1n;
    const underWay = store.allocate('x', 5);
    await store.removeSequence('x');
    backend.held[0]?.();
    expect(await firstOf(underWay)).toBe(1n);
    backend.held = undefined;
    backend.next = 2n;
    await store.removeSequence('x');
    expect(await firstOf(store.allocate('x', 5))).toBe(2n);
  });

  it('does so when a cycle starts over, and to calls under way', async () => {
    const backend = Object.assign(new Backend(), { cycle: true });
    const store = backend.open();
    await store.allocate('x', 50);
    backend.next = 1n;
    expect(await firstOf(store.allocate('x', 5))).toBe(1n);
    expect(await firstOf(store.allocate('x', 5))).toBe(6n);
    // In the new round, what was got before it does not count: this is behind it, and before its end.
    backend.cycle = false;
    expect(await firstOf(store.allocate('x', 5))).toBe(11n);
  });

  it('does so when its cycle ends, and not after any other change', async () => {
    const backend = new Backend();
    const store = backend.open();
    await store.allocate('x', 50);
    await store.alterSequence('x', { blockSize: 5 });
    backend.next = 10n;
    await expect(store.allocate('x', 5)).rejects.toThrow(StoreWentBackError);
    await store.alterSequence('x', { cycle: false });
    backend.next = 10n;
    expect(await firstOf(store.allocate('x', 5))).toBe(10n);
  });

  it('does so when the sequence counts in the other direction', async () => {
    const backend = new Backend();
    const store = backend.open();
    await store.allocate('x', 50);
    backend.step = -1;
    backend.next = 60n;
    expect(await firstOf(store.allocate('x', 5))).toBe(60n);
    backend.next = 58n;
    await expect(store.allocate('x', 5)).rejects.toThrow('numbers up to 55');
  });
});

describe('Numbers that are given back', () => {
  const tail = { first: 41n, step: 1, count: 10 };

  it('may come again, even to a call under way', async () => {
    const backend = new Backend();
    const giveBack = async () => {
      backend.next = 41n;
      return true;
    };
    const store = backend.open({ giveBack });
    await store.allocate('x', 50);
    expect(await store.giveBack?.('x', tail)).toBe(true);
    backend.held = [];
    const underWay = store.allocate('x', 5);
    backend.held[0]?.();
    expect(await firstOf(underWay)).toBe(41n);
    backend.held = undefined;
    await store.allocate('x', 45);
    backend.held = [];
    backend.next = 41n;
    const second = store.allocate('x', 5);
    await store.giveBack?.('x', { ...tail, count: 50 });
    backend.held[0]?.();
    expect(await firstOf(second)).toBe(41n);
  });

  it('come only from there on', async () => {
    const backend = new Backend();
    const store = backend.open({ giveBack: async () => true });
    await store.allocate('x', 50);
    await store.giveBack?.('x', tail);
    // A tail that is given back later, though it is further on, takes nothing back.
    await store.giveBack?.('x', { ...tail, first: 46n, count: 5 });
    backend.next = 40n;
    await expect(store.allocate('x', 1)).rejects.toThrow('numbers up to 41');
  });

  it('does not ask about ids before those that somebody else in this process has got, and remembers these', async () => {
    const backend = new Backend();
    let asked = 0;
    const giveBack = async () => {
      asked++;
      return true;
    };
    const store = backend.open({ giveBack });
    const block = await store.allocate('x', 20);
    await store.allocate('x', 20);
    backend.next = 21n;
    expect(await store.giveBack?.('x', { ...block, first: 6n, count: 15 })).toBe(false);
    expect(asked).toBe(0);
    await expect(store.allocate('x', 20)).rejects.toThrow(StoreWentBackError);
  });

  it.each([
    ['taken, which another process got after the last ones of this process', 40, tail, true, 40n, 41],
    [
      'taken, of a sequence that counts in the other direction now',
      50,
      { first: 30n, step: -1, count: 10 },
      true,
      50n,
      51,
    ],
    ['not taken', 50, tail, false, 40n, 41],
  ])('let nothing come again that this process has got: %s', async (_, count, given, isBack, next, seen) => {
    const backend = new Backend();
    const store = backend.open({ giveBack: async () => isBack });
    await store.allocate('x', count);
    expect(await store.giveBack?.('x', given)).toBe(isBack);
    backend.next = next;
    await expect(store.allocate('x', 1)).rejects.toThrow(`numbers up to ${seen}`);
  });

  it('were never kept: when another process gives back those before them, both come again', async () => {
    const backend = new Backend();
    const store = backend.open({ giveBack: async () => true });
    await store.allocate('x', 20);
    backend.next = 41n;
    const block = await store.allocate('x', 20);
    await store.giveBack?.('x', block);
    backend.next = 21n;
    expect(await firstOf(store.allocate('x', 20))).toBe(21n);
    backend.next = 20n;
    await expect(store.allocate('x', 1)).rejects.toThrow('numbers up to 41');
  });

  it('are taken of a sequence that this process has not used', async () => {
    const store = new Backend().open({ giveBack: async () => true });
    expect(await store.giveBack?.('x', tail)).toBe(true);
  });

  it('are not taken by a store that has no such method', () => {
    expect(new Backend().open().giveBack).toBeUndefined();
  });
});

describe('A store tells', () => {
  it('the lineage that it has told last: with a moment, or with a row', async () => {
    let lineage: string | undefined = 'a';
    const told = new Backend().open({ moment: async () => ({ now: 1, lineage }) });
    expect(told.lineage).toBeUndefined();
    expect(await told.moment?.('x')).toEqual({ now: 1, lineage: 'a' });
    expect(told.lineage).toBe('a');
    lineage = undefined;
    await told.moment?.('x');
    expect(told.lineage).toBeUndefined();
    const read = new Backend().open({ moment: async () => ({ now: 1, lineage }), lineageRead: () => 'b' });
    expect(read.lineage).toBe('b');
    lineage = 'c';
    await read.moment?.('x');
    expect(read.lineage).toBe('c');
    expect(new Backend().open().lineage).toBeUndefined();
  });

  it('its namespaces, without that of its own record', async () => {
    const store = new Backend().open({ namespaces: async () => ['a', STORE_NAMESPACE, 'b'] });
    expect(await store.namespaces?.()).toEqual(['a', 'b']);
  });

  it('by its members what it can do', () => {
    const { moment, namespaces, giveBack, restoreSequence } = new Backend().open();
    expect([moment, namespaces, giveBack, restoreSequence]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
