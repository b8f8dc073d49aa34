import { StoreError } from '../../errors.js';
import type { Ceiling } from '../../lineage/ceiling.js';
import { show } from '../../options.js';
import { canMove, positionOf, type SequenceRow, settle } from '../../sequence/blocks.js';
import type { CeilingRecords } from '../../sequence/past.js';
import type { SequenceRows } from '../../sequence/rows.js';
import { decodeCeiling, encodeCeiling } from '../definition.js';
import {
  afterBlocks,
  blocksIn,
  blocksOf,
  type CounterStart,
  decodeStart,
  encodeStart,
  powersOf,
  startOf,
  unitOf,
} from './block-counter.js';
import { fromBase64, type KeyValue, rangeOf, rangesIn, timeOf, toBase64 } from './connection.js';
import type { EtcdLineage } from './lineage.js';

/** The state of a sequence in etcd when its row was read. */
interface Snapshot {
  /** The revision of the whole store. */
  readonly revision: bigint;
  /** The name of the counter: the revision of its start, which no other counter ever has. */
  readonly counter: string;
  /** The revision at which the sequence was defined. */
  readonly defined: string;
  readonly start: SequenceRow;
  readonly taken: bigint;
  /** The earlier counter that `start` follows from. Nobody needs it once there is a newer counter. */
  readonly earlierCounter: string | undefined;
}

/**
 * Sequence rows in etcd. A sequence has a folder with the start of its counter, `…/sequence/<name>/ledger`, and the keys of the
 * counter, `…/sequence/<name>/tickets/<revision of the start>/<power of two>`.
 */
export function etcdRows(lineage: EtcdLineage, root: string, pasts: CeilingRecords & PastKeys): SequenceRows {
  const { ask } = lineage;
  /** The snapshots of all rows that were read here. A row comes back to be changed. */
  const snapshots = new WeakMap<SequenceRow, Snapshot>();
  const folderOf = (name: string) => `${root}${encodeURIComponent(name)}/`;
  const startKey = (name: string) => toBase64(`${folderOf(name)}ledger`);
  const counterFolder = (name: string, counter?: string) =>
    `${folderOf(name)}tickets/${counter === undefined ? '' : `${counter}/`}`;

  /** Makes changes if the comparisons hold. Gives the keys that its ranges have found; `undefined` if a comparison failed. */
  async function commit(
    operation: string,
    text: string | undefined,
    compare: readonly object[],
    success: readonly object[],
  ) {
    const reply = await lineage.commit(operation, text, compare, success);
    return reply && rangesIn(reply).flat();
  }

  const isSameCounter = (name: string, { counter }: Snapshot) => ({
    key: startKey(name),
    result: 'EQUAL',
    target: 'MOD',
    mod_revision: counter,
  });

  const putStart = (start: CounterStart) => ({
    request_put: { key: startKey(start.row.name), value: toBase64(encodeStart(start)) },
  });

  /** Starts a new counter at `row`, in the place of the one in the snapshot. */
  async function restart(
    snapshot: Snapshot,
    text: string | undefined,
    row: SequenceRow,
    conditions: object[] = [],
  ): Promise<boolean> {
    const { name } = row;
    const compare = [isSameCounter(name, snapshot), ...conditions];
    const success = [putStart({ row }), { request_delete_range: rangeOf(counterFolder(name)) }];
    return (await commit(`changing sequence ${show(name)}`, text, compare, success)) !== undefined;
  }

  async function swap(expected: SequenceRow, next: SequenceRow): Promise<boolean> {
    const snapshot = snapshotOf(expected);
    const unchanged = {
      ...rangeOf(counterFolder(expected.name)),
      result: 'LESS',
      target: 'MOD',
      mod_revision: String(snapshot.revision + 1n),
    };
    return restart(snapshot, expected.lineage, next, [unchanged]);
  }

  async function take(row: SequenceRow, blocks: bigint): Promise<bigint | undefined> {
    const { name } = row;
    const snapshot = snapshotOf(row);
    const { counter, start } = snapshot;
    const all = blocksIn(start);
    // A cycle that has come round is at its beginning again, and all blocks of its counter are taken.
    if (snapshot.taken + blocks > all) {
      await swap(row, row);
      return undefined;
    }
    const folder = counterFolder(name, counter);
    const puts = powersOf(blocks).map((power) => ({
      request_put: { key: toBase64(`${folder}${power}`) },
    }));
    const found = await commit(
      `allocating from sequence ${show(name)}`,
      row.lineage,
      [isSameCounter(name, snapshot)],
      [{ request_range: rangeOf(folder) }, ...puts],
    );
    if (found === undefined) return undefined;
    const taken = blocksOf(found.map(countOf));
    if (taken + blocks <= all) return positionOf(start) + taken * unitOf(start);
    // Counts beyond the last block take nothing. Here some of the blocks are left. A new counter gives them back: nobody else can
    // have got them.
    if (taken < all) await restart(snapshot, row.lineage, afterBlocks(start, taken));
    return undefined;
  }

  /** Alters a sequence wherever others have brought it by taking blocks at the same time. */
  async function move(from: SequenceRow, delta: bigint, to: SequenceRow): Promise<bigint | undefined> {
    const { name } = from;
    const snapshot = snapshotOf(from);
    const { counter, start, earlierCounter } = snapshot;
    const found = await commit(
      `altering sequence ${show(name)}`,
      from.lineage,
      [isSameCounter(name, snapshot)],
      [
        { request_range: rangeOf(counterFolder(name, counter)) },
        putStart({ row: to, continues: { from: start, counter, delta } }),
        ...(earlierCounter === undefined
          ? []
          : [{ request_delete_range: rangeOf(counterFolder(name, earlierCounter)) }]),
      ],
    );
    if (found === undefined) return undefined;
    const before = afterBlocks(start, blocksOf(found.map(countOf)));
    return settle(to, positionOf(before) + delta).next - delta;
  }

  /** The row of a sequence, by the keys in its folder. */
  function decode(
    name: string,
    found: readonly KeyValue[],
    revision: string,
    text: string | undefined,
  ): SequenceRow | undefined {
    const stored = found.find(({ key }) => key === startKey(name));
    if (stored === undefined) return undefined;
    const takenOf = (counter: string) => {
      const folder = counterFolder(name, counter);
      return blocksOf(found.filter(({ key }) => fromBase64(key).startsWith(folder)).map(countOf));
    };
    const counterStart = decodeStart(name, fromBase64(stored.value ?? ''));
    const { mod_revision: counter, create_revision: defined } = stored;
    const start = startOf(counterStart, takenOf);
    const taken = takenOf(counter);
    const row = { ...afterBlocks(start, taken), lineage: text };
    const earlierCounter = counterStart.continues?.counter;
    snapshots.set(row, { revision: BigInt(revision), counter, defined, start, taken, earlierCounter });
    return row;
  }

  async function find(name: string): Promise<SequenceRow | undefined> {
    const success = [lineage.range, { request_range: rangeOf(folderOf(name)) }];
    const { reply } = await ask(`reading sequence ${show(name)}`, '/v3/kv/txn', { success });
    const [own, found = []] = rangesIn(reply);
    return decode(name, found, reply.header.revision, lineage.textIn(own));
  }

  function snapshotOf(row: SequenceRow): Snapshot {
    const snapshot = snapshots.get(row);
    if (snapshot === undefined)
      throw new StoreError(`etcd store: sequence ${show(row.name)} was not read before the change`);
    return snapshot;
  }

  return {
    async insert(row) {
      const isNew = { key: startKey(row.name), result: 'EQUAL', target: 'VERSION', version: '0' };
      const success = [putStart({ row })];
      const operation = `defining sequence ${show(row.name)}`;
      return (await commit(operation, row.lineage, [isNew], success)) !== undefined;
    },

    async read(name) {
      const row = await find(name);
      if (row === undefined || row.lineage !== undefined) return row;
      // The first process that tells the lineage writes it.
      return (await lineage.present()) === undefined ? row : find(name);
    },

    async list() {
      const success = [lineage.range, { request_range: rangeOf(root) }];
      const { reply } = await ask('listing sequences', '/v3/kv/txn', { success });
      const [own, all = []] = rangesIn(reply);
      const folders = new Map<string, KeyValue[]>();
      for (const found of all) {
        const [folder = ''] = fromBase64(found.key).slice(root.length).split('/', 1);
        const others = folders.get(folder);
        if (others === undefined) folders.set(folder, [found]);
        else others.push(found);
      }
      const rows = [...folders].map(([folder, found]) =>
        decode(decodeURIComponent(folder), found, reply.header.revision, lineage.textIn(own)),
      );
      return rows.filter((row) => row !== undefined);
    },

    swap,

    async delete(row) {
      const { name } = row;
      const { defined } = snapshotOf(row);
      const isThere = { key: startKey(name), result: 'EQUAL', target: 'CREATE', create_revision: defined };
      const success = [rangeOf(folderOf(name)), { key: pasts.keyOf(name) }].map((range) => ({
        request_delete_range: range,
      }));
      const operation = `removing sequence ${show(name)}`;
      return (await commit(operation, row.lineage, [isThere], success)) !== undefined;
    },

    async advance(from, change, to) {
      if (!canMove(from, change)) return undefined;
      return to === from ? take(from, change.delta / unitOf(from)) : move(from, change.delta, to);
    },

    past: pasts,
  };
}

interface PastKeys {
  keyOf(name: string): string;
}

/** The ceilings of sequences, each in a key of its own: `…/past/<name>`. */
export function etcdPasts(
  lineage: EtcdLineage,
  root: string,
  maxJump: number | undefined,
): CeilingRecords & PastKeys {
  const keyOf = (name: string) => toBase64(`${root}${encodeURIComponent(name)}`);
  return {
    hasCeilings: true,
    ...(maxJump !== undefined && { maxJump }),
    keyOf,

    async read(name) {
      const operation = `reading the past of sequence ${show(name)}`;
      const present = await lineage.present();
      const success = [lineage.range, { request_range: { key: keyOf(name) } }];
      const response = await lineage.ask(operation, '/v3/kv/txn', { success });
      const [own, [found] = []] = rangesIn(response.reply);
      const past = found && decodeCeiling(name, fromBase64(found.value ?? ''));
      return { now: timeOf(response), lineage: present && lineage.textIn(own), past };
    },

    async write(name, expected, next) {
      const key = keyOf(name);
      const value = (past: Ceiling) => toBase64(encodeCeiling(past));
      const before = expected
        ? { target: 'VALUE', value: value(expected) }
        : { target: 'VERSION', version: '0' };
      const operation = `writing the past of sequence ${show(name)}`;
      const put = { request_put: { key, value: value(next) } };
      const isSame = { key, result: 'EQUAL', ...before };
      return (await lineage.commit(operation, next.lineage, [isSame], [put])) !== undefined;
    },
  };
}

/** The power of two that a counter key stands for, and its number of puts. */
function countOf({ key, version }: KeyValue): readonly [power: number, puts: bigint] {
  const name = fromBase64(key);
  return [Number(name.slice(name.lastIndexOf('/') + 1)), BigInt(version)];
}
