import {
  InvalidOptionError,
  NoSuchSequenceError,
  SequenceExhaustedError,
  SequenceExistsError,
  StoreError,
} from 'idsmith';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { defineRow, type SequenceRow } from '../../src/sequence/blocks.ts';
import { type SequenceRows, sequenceStore } from '../../src/sequence/rows.ts';
import { memoryRows } from '../../src/stores/memory/store.ts';
import { gate } from './support/alone.ts';

type Call = keyof SequenceRows;

/** Two clients of the same rows. The calls of the first one are noted, and something can happen before each of them. */
async function twoClients(options: object = {}) {
  const rows = memoryRows();
  const calls: Call[] = [];
  const before: Partial<Record<Call, () => unknown>> = {};
  const noted =
    <A extends unknown[], R>(name: Call, call: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      calls.push(name);
      await before[name]?.();
      return call(...args);
    };
  const ours = sequenceStore({
    insert: noted('insert', rows.insert),
    read: noted('read', rows.read),
    list: noted('list', rows.list),
    delete: noted('delete', rows.delete),
    swap: noted('swap', rows.swap),
    advance: noted('advance', rows.advance),
  });
  const theirs = sequenceStore(rows);
  await theirs.defineSequence({ name: 'x', max: 1000, ...options });
  /** Lets something happen before the next call of that kind, once. */
  const once = (name: Call, happens: () => unknown) => {
    before[name] = () => {
      delete before[name];
      return happens();
    };
  };
  return { rows, ours, theirs, calls, once };
}

describe('an allocation', () => {
  it('reads the row once, and then moves it in one step', async () => {
    const { ours, calls } = await twoClients();
    for (const first of [1n, 21n, 61n]) {
      const blocks = first === 21n ? 2 : 1;
      expect(await ours.allocate('x', blocks)).toEqual({ first, step: 1, count: 20 * blocks });
    }
    expect(calls).toEqual(['read', 'advance', 'advance', 'advance']);
  });

  it('reads the row again when it was altered, and still moves it in one step', async () => {
    const { ours, theirs, calls } = await twoClients();
    await ours.allocate('x', 1);
    await theirs.alterSequence('x', { blockSize: 5 });
    calls.length = 0;
    expect(await ours.allocate('x', 1)).toEqual({ first: 21n, step: 1, count: 5 });
    expect(calls).toEqual(['advance', 'read', 'advance']);
  });

  it('near the limit decides on a row that was just read, and swaps it', async () => {
    const { ours, theirs, calls } = await twoClients({ max: 50 });
    await ours.allocate('x', 1);
    await theirs.allocate('x', 1);
    await theirs.alterSequence('x', { max: 75 });
    calls.length = 0;
    expect(await ours.allocate('x', 5)).toEqual({ first: 41n, step: 1, count: 20 });
    expect(calls).toEqual(['advance', 'read', 'swap']);
    expect((await ours.describeSequence('x')).next).toBe(61n);
  });

  it('is not refused because of a limit that was moved meanwhile', async () => {
    const { ours, theirs } = await twoClients({ min: 1, max: 30 });
    await theirs.allocate('x', 1);
    await expect(ours.allocate('x', 1)).rejects.toThrow(SequenceExhaustedError);
    await theirs.alterSequence('x', { max: 1000 });
    expect(await ours.allocate('x', 2)).toEqual({ first: 21n, step: 1, count: 40 });
  });

  it('near the limit begins again when somebody was faster', async () => {
    const { ours, theirs, calls, once } = await twoClients({ max: 60 });
    once('swap', () => theirs.allocate('x', 1));
    expect(await ours.allocate('x', 5)).toEqual({ first: 21n, step: 1, count: 40 });
    expect(calls).toEqual(['read', 'advance', 'read', 'swap', 'read', 'swap']);
  });

  it('names the row of another program, once', async () => {
    const { rows, ours, calls } = await twoClients();
    await rows.insert(defineRow({ name: 'other' }, 0));
    const { origin } = await ours.allocate('other', 1);
    const { generation, mark } = (await rows.read('other')) as SequenceRow;
    expect(generation).not.toBe(0);
    expect([origin, mark === '0']).toEqual([generation, false]);
    expect((await ours.allocate('other', 1)).origin).toBe(generation);
    expect(calls).toEqual(['read', 'advance', 'advance']);
  });

  it.each([0, 1.5, 2 ** 20 + 1])('of %s blocks is refused', async (blocks) => {
    const { ours } = await twoClients();
    await expect(ours.allocate('x', blocks)).rejects.toThrow(InvalidOptionError);
  });
});

describe('a row that others change again and again', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('is read again a hundred times, after pauses that become longer, and then given up', async () => {
    const { opened, open } = gate();
    let reads = 0;
    const pauses: number[] = [];
    let unrefs = 0;
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((fn: () => void, ms: number) => {
      pauses.push(ms);
      void opened.then(fn);
      return { unref: () => unrefs++ };
    }) as never);
    const broken = sequenceStore({
      ...memoryRows(),
      read: async (name) => {
        reads++;
        return defineRow({ name }, 1);
      },
      advance: async () => undefined,
    });
    const outcome = broken.allocate('x', 1).catch((error: unknown) => error);
    for (let i = 0; i < 50; i++) await undefined;
    // The second try comes at once, the third after a pause.
    expect([reads, pauses]).toEqual([2, [2]]);
    open();
    const error = await outcome;
    expect(error).toBeInstanceOf(StoreError);
    expect(String(error)).toContain('was changed by others 101 times in a row');
    expect(reads).toBe(101);
    expect(pauses).toEqual([2, 4, 8, 16, ...Array(95).fill(25)]);
    expect(unrefs).toBe(0);
  });
});

describe('a change', () => {
  it('is one step if it stays within the limits, and otherwise a swap', async () => {
    const { ours, calls } = await twoClients();
    await ours.alterSequence('x', { blockSize: 5 });
    await ours.alterSequence('x', { next: 50 });
    // Beyond the old limit, the change is a swap.
    expect(await ours.alterSequence('x', { next: 2000, max: 3000 })).toMatchObject({ next: 2000n });
    expect(calls).toEqual(['read', 'advance', 'read', 'advance', 'read', 'swap']);
  });

  it('goes as far from where others have moved the row as was asked', async () => {
    const { ours, theirs, once } = await twoClients();
    once('advance', () => theirs.allocate('x', 2));
    expect(await ours.alterSequence('x', { next: 101 })).toMatchObject({ next: 141n, exhausted: false });
    expect((await theirs.describeSequence('x')).next).toBe(141n);
  });

  it('begins again when somebody has altered the row', async () => {
    const { ours, theirs, once, calls } = await twoClients();
    once('advance', () => theirs.alterSequence('x', { blockSize: 7 }));
    expect(await ours.alterSequence('x', { max: 500 })).toMatchObject({ max: 500n, blockSize: 7 });
    expect(calls).toEqual(['read', 'advance', 'swap', 'read', 'advance']);
    once('swap', () => theirs.allocate('x', 3));
    calls.length = 0;
    expect(await ours.alterSequence('x', { next: 2000, max: 3000 })).toMatchObject({ next: 2000n });
    expect(calls).toEqual(['read', 'swap', 'read', 'swap']);
    expect((await theirs.allocate('x', 1)).first).toBe(2000n);
  });

  it('to or from a cycle makes a new generation, so that no earlier tail comes back', async () => {
    const { rows, ours } = await twoClients();
    const generation = async () => (await rows.read('x'))?.generation;
    const before = await generation();
    await ours.alterSequence('x', { blockSize: 7 });
    expect(await generation()).toBe(before);
    await ours.alterSequence('x', { cycle: true });
    expect(await generation()).not.toBe(before);
  });
});

describe('a sequence that was removed', () => {
  it('is forgotten', async () => {
    const { ours, theirs, calls } = await twoClients();
    await ours.allocate('x', 1);
    await theirs.removeSequence('x');
    calls.length = 0;
    await expect(ours.allocate('x', 1)).rejects.toThrow(NoSuchSequenceError);
    await expect(ours.allocate('x', 1)).rejects.toThrow(NoSuchSequenceError);
    expect(calls).toEqual(['advance', 'read', 'read']);
  });

  it('is forgotten by its own client, also what was read meanwhile', async () => {
    const { ours, calls, once } = await twoClients();
    once('delete', () => ours.allocate('x', 1));
    await ours.removeSequence('x');
    expect(calls).toEqual(['read', 'delete', 'read', 'advance']);
    calls.length = 0;
    await expect(ours.allocate('x', 1)).rejects.toThrow(NoSuchSequenceError);
    expect(calls).toEqual(['read']);
  });

  it('stays if the store fails, and is read again', async () => {
    const { ours, calls, once } = await twoClients();
    once('delete', () => Promise.reject(new StoreError('away')));
    await expect(ours.removeSequence('x')).rejects.toThrow('away');
    expect((await ours.allocate('x', 1)).first).toBe(1n);
    expect(calls).toEqual(['read', 'delete', 'read', 'advance']);
  });

  it('is removed, too, if it was defined again meanwhile', async () => {
    const { ours, theirs, calls, once } = await twoClients();
    once('delete', async () => {
      await theirs.removeSequence('x');
      await theirs.defineSequence({ name: 'x' });
    });
    await ours.removeSequence('x');
    expect(calls).toEqual(['read', 'delete', 'read', 'delete']);
    await expect(theirs.describeSequence('x')).rejects.toThrow(NoSuchSequenceError);
  });
});

describe('a definition', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('is refused where there is one, or where the name cannot be seen', async () => {
    const { rows, ours } = await twoClients();
    await expect(ours.defineSequence({ name: 'x' })).rejects.toThrow(SequenceExistsError);
    await expect(ours.defineSequence({ name: 'x\u200b' })).rejects.toThrow(InvalidOptionError);
    await rows.insert({ ...defineRow({ name: 'x' }, 1), name: 'x\u200b' });
    await expect(ours.defineSequence({ name: 'x\u200b' })).rejects.toThrow(SequenceExistsError);
  });

  it.each([
    [0, 0, 1],
    [1, 5, 2 ** 32 + 5],
    [2 ** 32 - 1, 2 ** 32 - 1, 2 ** 53 - 1],
    [2 ** 21, 7, 7],
  ])('has a generation of 53 random bits, never 0: %s and %s', async (high, low, generation) => {
    const { rows, ours } = await twoClients();
    vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
      (array as Uint32Array).set([high, low]);
      return array;
    });
    await ours.defineSequence({ name: 'y' });
    expect((await rows.read('y'))?.generation).toBe(generation);
  });
});

describe('a list', () => {
  it('is sorted by name, and tells what is over', async () => {
    const { ours, theirs } = await twoClients();
    for (const name of ['c', 'a', 'z', 'b']) await theirs.defineSequence({ name, max: 20 });
    await theirs.allocate('b', 1);
    const list = await ours.listSequences();
    expect(list.map(({ name, exhausted }) => [name, exhausted])).toEqual([
      ['a', false],
      ['b', true],
      ['c', false],
      ['x', false],
      ['z', false],
    ]);
    expect(Object.keys(list[0] as object)).not.toContain('mark');
  });
});

describe('a tail', () => {
  it('goes back once, and not if somebody was faster', async () => {
    const { ours, theirs, once } = await twoClients();
    const { origin } = await ours.allocate('x', 1);
    const tail = Object.defineProperty({ first: 11n, step: 1, count: 10 }, 'origin', { value: origin });
    once('swap', () => theirs.allocate('x', 1));
    expect(await ours.giveBack?.('x', tail)).toBe(false);
    expect((await theirs.describeSequence('x')).next).toBe(41n);
    expect(await ours.giveBack?.('nothing', tail)).toBe(false);
    await expect(ours.giveBack?.('x', { ...tail, count: 0 })).rejects.toThrow(InvalidOptionError);
  });

  it('that goes back leaves a fresh mark', async () => {
    const { rows, ours } = await twoClients();
    const block = await ours.allocate('x', 1);
    expect((await rows.read('x'))?.mark).toBe('0');
    expect(await ours.giveBack?.('x', block)).toBe(true);
    expect(await rows.read('x')).toMatchObject({ next: 1n, mark: expect.not.stringMatching(/^0$/) });
    expect(await ours.giveBack?.('x', block)).toBe(false);
  });
});
