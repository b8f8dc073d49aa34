import { StoreError } from 'idsmith';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Ceiling } from '../../src/lineage/ceiling.ts';
import type { SequencePast } from '../../src/lineage/judge.ts';
import { defineRow, type SequenceRow } from '../../src/sequence/blocks.ts';
import { type BareRecords, type CeilingRecords, SequencePasts } from '../../src/sequence/past.ts';

const MINUTE = 60_000;

/** The time that a database needs: whoever does not wait for it sees what was there before. */
const aMoment = () => new Promise((resolve) => setImmediate(resolve));

/** Records in memory, of a store whose lineage and clock the test sets. */
class Records {
  lineage: string | undefined = 'a';
  now = 0;
  reads = 0;
  writes = 0;
  readonly pasts = new Map<string, SequencePast>();
  /** Called before a record is replaced: others may be quicker. */
  beforeWrite = () => {};

  async read(name: string) {
    this.reads++;
    return { now: this.now, lineage: this.lineage, past: this.pasts.get(name) };
  }

  async write(name: string, expected: SequencePast | undefined, next: SequencePast): Promise<boolean> {
    this.writes++;
    this.beforeWrite();
    await aMoment();
    if (this.pasts.get(name) !== expected || next.lineage !== this.lineage) return false;
    this.pasts.set(name, next);
    return true;
  }

  /** As records with ceilings. */
  high(maxJump?: number): CeilingRecords {
    const { read, write } = this.#methods();
    return { hasCeilings: true, read, write, ...(maxJump !== undefined && { maxJump }) } as CeilingRecords;
  }

  /** As records of a store that can come back with nothing. */
  bare(distrusted: string[] = []): BareRecords {
    const forgotten = (name: string) => new StoreError(`${name} was forgotten`);
    const distrust = async (name: string) => {
      await aMoment();
      this.pasts.delete(name);
      distrusted.push(name);
    };
    return { hasCeilings: false, ...this.#methods(), forgotten, distrust };
  }

  #methods() {
    return { read: this.read.bind(this), write: this.write.bind(this) };
  }
}

const rowAt = (next: bigint, more: Partial<SequenceRow> = {}): SequenceRow => ({
  ...defineRow({ name: 'orders', blockSize: 1 }, 1),
  next,
  lineage: 'a',
  ...more,
});

/** The row of a definition. */
const NEW = rowAt(1n, { lineage: undefined });

/** What the store has of the sequence, in the lineage `a`. */
const KEPT: Ceiling = { lineage: 'a', ceiling: 1000n, matured: 1000n, base: 0n, writtenAt: 0 };

let records: Records;
let pasts: SequencePasts;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: 5_000_000 });
  records = new Records();
  pasts = new SequencePasts(records.high());
});
afterEach(() => {
  vi.useRealTimers();
});

describe('A row that was read', () => {
  it('is good without a question in a store that cannot tell', async () => {
    expect(pasts.isKnown(rowAt(1n, { lineage: undefined }))).toBe(true);
    expect(await pasts.judge(rowAt(1n, { lineage: undefined }))).toEqual({ kind: 'go-on' });
    expect(records.reads).toBe(0);
  });

  it('is good without another question once its past was seen in this lineage', async () => {
    records.pasts.set('orders', KEPT);
    expect(pasts.isKnown(rowAt(1n))).toBe(false);
    expect(await pasts.judge(rowAt(1n))).toEqual({ kind: 'go-on' });
    expect(pasts.isKnown(rowAt(2n))).toBe(true);
    expect(pasts.isKnown(rowAt(2n, { lineage: 'b' }))).toBe(false);
    expect(pasts.isKnown(rowAt(2n, { name: 'others' }))).toBe(false);
    await pasts.judge(rowAt(2n));
    // Its own past, and what the store remembers of itself.
    expect(records.reads).toBe(2);
  });

  it('is read again if the store tells another lineage meanwhile', async () => {
    records.pasts.set('orders', KEPT);
    records.lineage = 'b';
    expect(await pasts.judge(rowAt(1n))).toBeUndefined();
    expect(pasts.isKnown(rowAt(1n))).toBe(false);
  });

  it('gets a past if it has none, and is read again if others were quicker', async () => {
    expect(await pasts.judge(rowAt(7n))).toEqual({ kind: 'go-on' });
    expect(records.pasts.get('orders')).toEqual({
      lineage: 'a',
      ceiling: 1007n,
      matured: 7n,
      base: 7n,
      writtenAt: 0,
    });
    expect(pasts.isKnown(rowAt(8n))).toBe(true);
    const late = new SequencePasts(records.high());
    records.pasts.clear();
    records.beforeWrite = () => records.pasts.set('orders', KEPT);
    expect(await late.judge(rowAt(7n))).toBeUndefined();
    expect(late.isKnown(rowAt(7n))).toBe(false);
  });

  it('continues at the ceiling in another lineage, and is not known until that is confirmed', async () => {
    records.pasts.set('orders', KEPT);
    records.lineage = 'b';
    const row = rowAt(10n, { lineage: 'b' });
    expect(await pasts.judge(row)).toEqual({ kind: 'continue-at', next: 1000n });
    expect(pasts.isKnown(row)).toBe(false);
    pasts.note(row, 5000n);
    expect(pasts.warnings).toEqual([]);
    expect(await pasts.confirm(rowAt(1000n, { lineage: 'b' }))).toBe(true);
    expect(records.pasts.get('orders')).toMatchObject({ lineage: 'b', ceiling: 2000n, matured: 1000n });
    expect(pasts.isKnown(row)).toBe(true);
  });

  it.each([{ cycle: true }, { exhausted: true }])('goes on in another lineage if it has %j', async (more) => {
    records.pasts.set('orders', KEPT);
    records.lineage = 'b';
    expect(await pasts.judge(rowAt(10n, { lineage: 'b', ...more }))).toEqual({ kind: 'go-on' });
    expect(records.pasts.get('orders')?.lineage).toBe('b');
  });

  it('is left to a person in another lineage if the store keeps no ceilings', async () => {
    const bare = new SequencePasts(records.bare());
    expect(await bare.judge(rowAt(1n))).toEqual({ kind: 'go-on' });
    expect(records.pasts.get('orders')).toEqual({ lineage: 'a', ceiling: undefined });
    records.lineage = 'b';
    await expect(bare.judge(rowAt(1n, { lineage: 'b' }))).rejects.toThrow('orders was forgotten');
  });
});

describe('A row that was moved after a loss', () => {
  beforeEach(() => {
    records.pasts.set('orders', KEPT);
    records.lineage = 'b';
  });
  const moved = rowAt(1000n, { lineage: 'b' });

  it('is confirmed once, and at once by whoever knows', async () => {
    expect(await pasts.confirm(moved)).toBe(true);
    expect([records.reads, records.writes]).toEqual([1, 1]);
    expect(await pasts.confirm(moved)).toBe(true);
    expect([records.reads, records.writes]).toEqual([1, 1]);
    expect(await new SequencePasts(records.high()).confirm(moved)).toBe(true);
    expect([records.reads, records.writes]).toEqual([2, 1]);
  });

  it('is not confirmed when the store has gone back again, or others were quicker', async () => {
    expect(await pasts.confirm(rowAt(1000n, { lineage: 'c' }))).toBe(false);
    expect(records.writes).toBe(0);
    records.beforeWrite = () => records.pasts.set('orders', { ...KEPT, lineage: 'b' });
    expect(await pasts.confirm(moved)).toBe(false);
  });

  it('gets another ceiling after a restore, unless the store has gone back again or others were quicker', async () => {
    expect(await pasts.recordAgain(rowAt(1000n, { lineage: 'c' }))).toBe(false);
    expect(records.writes).toBe(0);
    expect(await pasts.recordAgain(moved)).toBe(true);
    expect(records.pasts.get('orders')).toMatchObject({ lineage: 'b', ceiling: 2000n, matured: 1000n });
    records.beforeWrite = () => records.pasts.set('orders', { ...KEPT, lineage: 'b' });
    expect(await pasts.recordAgain(moved)).toBe(false);
  });

  it('is told of in the warnings', () => {
    pasts.tellMoved(rowAt(10n), 1000n);
    pasts.tellMoved(rowAt(10n), 2000n);
    expect(pasts.warnings).toEqual([
      expect.stringContaining('It continues at 2000, beyond all numbers of the last 60 s'),
    ]);
  });
});

describe('A sequence that is about to be defined', () => {
  it('has a ceiling before its row, which is old enough at once', async () => {
    const { row, begin } = await pasts.prepare(NEW, 0);
    expect(row).toEqual(rowAt(1n));
    expect(records.pasts.get('orders')).toMatchObject({ lineage: 'a', ceiling: 1001n, matured: 1001n });
    expect(records.pasts.get('')).toEqual({ lineage: 'a', ceiling: 0n, matured: 0n, base: 0n, writtenAt: 0 });
    // Not known: the row may be another one's.
    expect(pasts.isKnown(rowAt(1n))).toBe(false);
    await begin();
    expect([records.writes, pasts.warnings]).toEqual([2, []]);
  });

  it('replaces what was kept of an earlier sequence of its name, after its row', async () => {
    records.pasts.set('orders', KEPT);
    const { begin } = await pasts.prepare(NEW, 0);
    expect(records.pasts.get('orders')).toBe(KEPT);
    await begin();
    expect(records.pasts.get('orders')).toMatchObject({ ceiling: 1001n, matured: 1n });
  });

  it('has none in a store that cannot tell, or keeps no ceilings', async () => {
    records.lineage = undefined;
    const untold = await pasts.prepare(NEW, 0);
    await untold.begin();
    expect(untold.row).toBe(NEW);
    records.lineage = 'a';
    const bare = await new SequencePasts(records.bare()).prepare(NEW, 0);
    await bare.begin();
    expect(bare.row).toBe(NEW);
    expect(records.writes).toBe(0);
  });
});

describe('A store whose sequences are used', () => {
  it('remembers itself from the first use on, and each loss, once', async () => {
    const own = (lineage: string, writtenAt: number, losses: bigint) => ({
      lineage,
      ceiling: losses,
      matured: 0n,
      base: 0n,
      writtenAt,
    });
    records.now = 7;
    await pasts.judge(rowAt(1n));
    expect(records.pasts.get('')).toEqual(own('a', 0, 0n));
    records.lineage = 'b';
    await pasts.judge(rowAt(1n, { lineage: 'b' }));
    expect(records.pasts.get('')).toEqual(own('b', 7, 1n));
    records.now = 9;
    const { writes } = records;
    await pasts.judge(rowAt(1n, { lineage: 'b', name: 'others' }));
    await new SequencePasts(records.high()).judge(rowAt(1n, { lineage: 'b', name: 'others' }));
    expect(records.pasts.get('')).toEqual(own('b', 7, 1n));
    expect(records.writes).toBe(writes + 1);
  });

  it('remembers a failover there and back, also where a process has known the first lineage all the time', async () => {
    await pasts.judge(rowAt(1n));
    const noted: Ceiling = { ...KEPT, lineage: 'b', ceiling: 1n, writtenAt: 5 };
    records.pasts.set('', noted);
    records.pasts.set('orders', { ...KEPT, lineage: 'b' });
    await pasts.judge(rowAt(1n, { generation: 2 }));
    expect(records.pasts.get('')).toMatchObject({ lineage: 'a', ceiling: 2n });
  });

  it('knows of a loss by the past of a sequence, if it has remembered nothing so far', async () => {
    records.now = 7;
    records.lineage = 'b';
    records.pasts.set('orders', KEPT);
    await pasts.judge(rowAt(1n, { lineage: 'b' }));
    expect(records.pasts.get('')).toMatchObject({ lineage: 'b', writtenAt: 7, ceiling: 1n });
  });

  it('remembers nothing if a person must tell where its sequences go on', async () => {
    await new SequencePasts(records.bare()).judge(rowAt(1n));
    expect(records.pasts.has('')).toBe(false);
  });
});

describe('A sequence that may have been defined in what the store has lost', () => {
  const HOUR = 3_600_000;
  beforeEach(async () => {
    records.now = HOUR;
    await pasts.prepare(rowAt(1n, { name: 'first', lineage: undefined }), 0);
    records.lineage = 'b';
  });

  it('begins at its first ceiling, with a ceiling of its own, and tells so', async () => {
    const { row, begin } = await pasts.prepare(NEW, 0);
    expect(row).toEqual(rowAt(1001n, { lineage: 'b' }));
    expect(records.pasts.get('orders')).toMatchObject({ lineage: 'b', ceiling: 2001n, matured: 2001n });
    expect(pasts.warnings).toEqual([]);
    await begin();
    expect(pasts.warnings).toEqual([
      expect.stringMatching(/"orders" may have .* begins at 1001 and not at 1\. .*idsmith init/),
    ]);
  });

  it('begins there for ever after, however long ago the loss is', async () => {
    await pasts.prepare(NEW, 0);
    records.now = 9000 * HOUR;
    const later = await new SequencePasts(records.high()).prepare(rowAt(1n, { name: 'later' }), 0);
    expect(later.row.next).toBe(1001n);
    expect(records.pasts.get('')).toMatchObject({ lineage: 'b', writtenAt: HOUR });
  });

  it('begins at its start if its numbers are for a later time, or it is a cycle', async () => {
    expect((await pasts.prepare(NEW, HOUR + MINUTE)).row.next).toBe(1001n);
    expect((await pasts.prepare(rowAt(1n, { name: 'x' }), HOUR + MINUTE + 1)).row.next).toBe(1n);
    expect((await pasts.prepare(rowAt(1n, { name: 'y', cycle: true }), 0)).row.next).toBe(1n);
  });

  it('begins at its start once a person has said that nothing is missing, until another one says that something is', async () => {
    await (await pasts.prepare(NEW, 0)).begin();
    await pasts.vouch();
    expect(pasts.warnings).toEqual([]);
    expect((await pasts.prepare(rowAt(1n, { name: 'x' }), 0)).row.next).toBe(1n);
    records.now = 2 * HOUR;
    await pasts.doubt(Infinity);
    expect((await pasts.prepare(rowAt(1n, { name: 'y' }), 2 * HOUR)).row.next).toBe(1001n);
    records.lineage = 'c';
    await pasts.vouch();
    expect((await pasts.prepare(rowAt(1n, { name: 'z' }), 0)).row.next).toBe(1n);
    const { writes } = records;
    await pasts.vouch();
    expect(records.writes).toBe(writes);
  });

  it('begins a jump further on after each loss, because it may have been lost twice', async () => {
    expect((await pasts.prepare(NEW, 0)).row.next).toBe(1001n);
    records.pasts.delete('orders');
    records.lineage = 'c';
    expect((await pasts.prepare(NEW, 0)).row.next).toBe(2001n);
    const down = { ...defineRow({ name: 'down', start: 5, step: -2, blockSize: 1 }, 1) };
    expect((await pasts.prepare(down, 0)).row.next).toBe(5n - 4000n);
  });

  it('counts a loss once that many processes find by their memory, and another one that comes later', async () => {
    await pasts.doubt(HOUR);
    records.now = 3 * HOUR;
    // They got their numbers before it was noted.
    for (const gotAt of [HOUR, HOUR - 1]) await new SequencePasts(records.high()).doubt(gotAt);
    expect(records.pasts.get('')).toMatchObject({ lineage: 'b', ceiling: 1n, writtenAt: HOUR });
    await pasts.doubt(HOUR + 1);
    expect(records.pasts.get('')).toMatchObject({ ceiling: 2n, writtenAt: 3 * HOUR });
    await pasts.doubt(Infinity);
    expect(records.pasts.get('')).toMatchObject({ ceiling: 3n });
    records.lineage = 'c';
    await pasts.doubt(HOUR);
    expect(records.pasts.get('')).toMatchObject({ lineage: 'c', ceiling: 4n });
  });

  it('is a question that a store answers without a change', async () => {
    expect(await pasts.isDoubtful()).toBe(true);
    await pasts.vouch();
    expect(await pasts.isDoubtful()).toBe(false);
    records.lineage = undefined;
    expect(await pasts.isDoubtful()).toBe(false);
  });

  it('is not warned of any more once another process has vouched', async () => {
    await (await pasts.prepare(NEW, 0)).begin();
    await new SequencePasts(records.high()).vouch();
    expect(pasts.warnings).toHaveLength(1);
    await pasts.prepare(rowAt(1n, { name: 'x' }), 0);
    expect(pasts.warnings).toEqual([]);
  });

  it('is refused if its range is too small, and nothing is written', async () => {
    const small = rowAt(1n, { max: 2n });
    const { refusal } = await pasts.prepare(small, 0);
    expect(refusal?.()).toMatchObject({ code: 'STORE_WENT_BACK' });
    expect(refusal?.().message).toMatch(/"orders" .* lost: true .* idsmith init/);
    expect(records.pasts.has('orders')).toBe(false);
    expect((await pasts.prepare(rowAt(1n, { max: 3n }), 0)).row.next).toBe(3n);
  });

  it('looks again when others were quicker to note the loss, and gives up at last', async () => {
    const others = { ...KEPT, ceiling: 1n, lineage: 'b', writtenAt: 5 };
    records.beforeWrite = () => {
      records.beforeWrite = () => {};
      records.pasts.set('', others);
    };
    expect((await pasts.prepare(NEW, 0)).row.next).toBe(1001n);
    expect(records.pasts.get('')).toBe(others);
    records.beforeWrite = () => {
      records.lineage += 'x';
    };
    records.lineage = 'c';
    await expect(pasts.prepare(NEW, 0)).rejects.toMatchObject({ reason: 'CONFLICT' });
  });

  it('is nothing that a person can say of a store without ceilings', async () => {
    const { writes } = records;
    await new SequencePasts(records.bare()).vouch();
    records.lineage = undefined;
    await pasts.vouch();
    await pasts.doubt(0);
    expect(records.writes).toBe(writes);
  });
});

describe('The place of a sequence after a restore', () => {
  it('is its ceiling, or its position if that is further on', async () => {
    records.pasts.set('orders', KEPT);
    expect(await pasts.placeAfterRestore(rowAt(10n))).toBe(1000n);
    expect(await pasts.placeAfterRestore(rowAt(1010n))).toBe(1010n);
  });

  it('is as far beyond a number that was seen as a ceiling is, if the ceiling is not beyond the number', async () => {
    records.pasts.set('orders', KEPT);
    expect(await pasts.placeAfterRestore(rowAt(10n), 1000n)).toBe(1000n);
    expect(await pasts.placeAfterRestore(rowAt(10n), 1001n)).toBe(2001n);
    expect(await new SequencePasts(records.high(50)).placeAfterRestore(rowAt(10n), 1001n)).toBe(1051n);
  });

  it('is not known without a ceiling: a person tells it', async () => {
    expect(await pasts.placeAfterRestore(rowAt(10n))).toBeUndefined();
    const distrusted: string[] = [];
    records.pasts.set('orders', { lineage: 'a', ceiling: undefined });
    expect(await new SequencePasts(records.bare(distrusted)).placeAfterRestore(rowAt(10n))).toBeUndefined();
    expect([distrusted, records.pasts.size]).toEqual([['orders'], 0]);
  });
});

describe('Numbers that are given out', () => {
  const kept = () => records.pasts.get('orders') as Ceiling;
  beforeEach(async () => {
    records.pasts.set('orders', KEPT);
    await pasts.judge(rowAt(1n));
    records.writes = 0;
  });

  /** Lets time pass for the process and the store. */
  const pass = (ms: number) => {
    vi.setSystemTime(Date.now() + ms);
    records.now += ms;
  };

  it('let the ceiling rise in the background, once half of the way is used up', async () => {
    pass(MINUTE);
    pasts.note(rowAt(1n), 499n);
    await pasts.settled();
    expect(records.writes).toBe(0);
    pasts.note(rowAt(1n), 500n);
    pasts.note(rowAt(1n), 501n);
    expect(kept()).toBe(KEPT);
    await pasts.settled();
    expect(kept()).toMatchObject({ base: 500n, writtenAt: MINUTE, ceiling: 500n + 2000n, matured: 1000n });
    expect(records.writes).toBe(1);
  });

  it('let it rise again and again', async () => {
    pass(MINUTE);
    pasts.note(rowAt(1n), 500n);
    await pasts.settled();
    pass(MINUTE);
    pasts.note(rowAt(1n), 1499n);
    await pasts.settled();
    expect(records.writes).toBe(1);
    pasts.note(rowAt(1n), 1500n);
    await pasts.settled();
    expect(kept()).toMatchObject({ base: 1500n, matured: 2500n });
  });

  it('let it rise as far as the store allows', async () => {
    const short = new SequencePasts(records.high(50));
    await short.judge(rowAt(1n));
    pass(MINUTE);
    short.note(rowAt(1n), 990n);
    await short.settled();
    expect(kept().ceiling).toBe(1040n);
  });

  it('leave it as it is if another process has raised it, and know that', async () => {
    pass(MINUTE);
    const raised = { ...KEPT, base: 400n, ceiling: 5000n, writtenAt: MINUTE };
    records.pasts.set('orders', raised);
    pasts.note(rowAt(1n), 600n);
    await pasts.settled();
    expect([kept(), records.writes]).toEqual([raised, 0]);
    const reads = records.reads;
    pasts.note(rowAt(1n), 700n);
    await pasts.settled();
    expect(records.reads).toBe(reads);
  });

  it.each([
    ['has no past any more', () => records.pasts.delete('orders')],
    ['has gone back', () => Object.assign(records, { lineage: 'b' })],
  ])('leave it as it is if the store %s', async (_, happen) => {
    pass(MINUTE);
    happen();
    pasts.note(rowAt(1n), 600n);
    await pasts.settled();
    expect(records.writes).toBe(0);
  });

  it('are told of when they are not covered, once, until they are', async () => {
    pasts.note(rowAt(1n), 1001n);
    pasts.note(rowAt(1n), 1002n);
    expect(pasts.warnings).toEqual([expect.stringContaining('could repeat numbers before 1001')]);
    await pasts.settled();
    pass(MINUTE);
    pasts.note(rowAt(1n), 1003n);
    expect(pasts.warnings).toEqual([]);
  });

  it('say nothing in a cycle, of a sequence that nobody asked for, and in a store without ceilings', async () => {
    pass(MINUTE);
    const reads = records.reads;
    pasts.note(rowAt(1n, { cycle: true }), 5000n);
    pasts.note(rowAt(1n, { name: 'others' }), 5000n);
    const bare = new SequencePasts(records.bare());
    records.pasts.set('orders', { lineage: 'a', ceiling: undefined });
    await bare.judge(rowAt(1n));
    bare.note(rowAt(1n), 5000n);
    await Promise.all([pasts.settled(), bare.settled()]);
    expect([records.reads, pasts.warnings, bare.warnings]).toEqual([reads + 1, [], []]);
  });
});
