import { StoreError } from '../../errors.js';
import { show } from '../../options.js';
import { canMove, positionOf, type SequenceRow, settle } from '../../sequence/blocks.js';
import type { SequenceRows } from '../../sequence/rows.js';
import {
  afterBlocks,
  blocksIn,
  blocksOf,
  decodeLedger,
  encodeLedger,
  type Ledger,
  startOf,
  ticketsFor,
  unitOf,
} from './block-counter.js';
import { type Ask, fromBase64, type KeyValue, rangeOf, toBase64 } from './connection.js';

/** What was seen of a sequence when its row was read. */
interface Sight {
  /** The revision at which it was. */
  readonly revision: bigint;
  /** The revision of the ledger, which no other ledger ever has. */
  readonly ledger: string;
  /** The revision at which the sequence was defined. */
  readonly defined: string;
  readonly start: SequenceRow;
  readonly taken: bigint;
  /** The tickets that `start` was made of, which nobody needs once there is another ledger. */
  readonly spent: string | undefined;
}

/**
 * Rows in etcd: a sequence has a folder with its ledger, `…/sequence/<name>/ledger`, and its tickets,
 * `…/sequence/<name>/tickets/<revision of the ledger>/<power of two>`.
 */
export function etcdRows(ask: Ask, root: string): SequenceRows {
  /** The rows that come from here are those that are brought back to be changed. */
  const sights = new WeakMap<SequenceRow, Sight>();
  const folderOf = (name: string) => `${root}${encodeURIComponent(name)}/`;
  const ledgerOf = (name: string) => toBase64(`${folderOf(name)}ledger`);
  const ticketsOf = (name: string, ledger?: string) =>
    `${folderOf(name)}tickets/${ledger === undefined ? '' : `${ledger}/`}`;

  /** Makes changes if the comparisons hold; gives what its ranges have found, or `undefined` if they do not. */
  async function commit(operation: string, compare: object[], success: object[]) {
    const { reply } = await ask(operation, '/v3/kv/txn', { compare, success });
    if (reply.succeeded !== true) return undefined;
    return (reply.responses ?? []).flatMap(({ response_range: range }) => range?.kvs ?? []);
  }

  const isLedger = (name: string, { ledger }: Sight) => ({
    key: ledgerOf(name),
    result: 'EQUAL',
    target: 'MOD',
    mod_revision: ledger,
  });

  const putLedger = (ledger: Ledger) => ({
    request_put: { key: ledgerOf(ledger.row.name), value: toBase64(encodeLedger(ledger)) },
  });

  /** Puts a ledger without tickets in the place of the one that was seen. */
  async function restart(sight: Sight, row: SequenceRow, conditions: object[] = []): Promise<boolean> {
    const { name } = row;
    const compare = [isLedger(name, sight), ...conditions];
    const success = [putLedger({ row }), { request_delete_range: rangeOf(ticketsOf(name)) }];
    return (await commit(`changing sequence ${show(name)}`, compare, success)) !== undefined;
  }

  async function swap(expected: SequenceRow, next: SequenceRow): Promise<boolean> {
    const sight = sightOf(expected);
    const unchanged = {
      ...rangeOf(ticketsOf(expected.name)),
      result: 'LESS',
      target: 'MOD',
      mod_revision: String(sight.revision + 1n),
    };
    return restart(sight, next, [unchanged]);
  }

  async function take(row: SequenceRow, blocks: bigint): Promise<bigint | undefined> {
    const { name } = row;
    const sight = sightOf(row);
    const { ledger, start } = sight;
    const all = blocksIn(start);
    // A cycle that has come round is where it was, and all its tickets are used.
    if (sight.taken + blocks > all) {
      await swap(row, row);
      return undefined;
    }
    const tickets = ticketsOf(name, ledger);
    const puts = ticketsFor(blocks).map((power) => ({
      request_put: { key: toBase64(`${tickets}${power}`) },
    }));
    const found = await commit(
      `allocating from sequence ${show(name)}`,
      [isLedger(name, sight)],
      [{ request_range: rangeOf(tickets) }, ...puts],
    );
    if (found === undefined) return undefined;
    const taken = blocksOf(found.map(ticketOf));
    if (taken + blocks <= all) return positionOf(start) + taken * unitOf(start);
    // Who comes after the last block has taken nothing. These are too many for the blocks that are left, which are back
    // once the ticket is gone: nobody else can have one for them.
    if (taken < all) await restart(sight, afterBlocks(start, taken));
    return undefined;
  }

  /** Alters a sequence wherever those who take tickets at the same time have brought it. */
  async function move(from: SequenceRow, delta: bigint, to: SequenceRow): Promise<bigint | undefined> {
    const { name } = from;
    const sight = sightOf(from);
    const { ledger, start, spent } = sight;
    const found = await commit(
      `altering sequence ${show(name)}`,
      [isLedger(name, sight)],
      [
        { request_range: rangeOf(ticketsOf(name, ledger)) },
        putLedger({ row: to, moved: { from: start, tickets: ledger, delta } }),
        ...(spent === undefined ? [] : [{ request_delete_range: rangeOf(ticketsOf(name, spent)) }]),
      ],
    );
    if (found === undefined) return undefined;
    const before = afterBlocks(start, blocksOf(found.map(ticketOf)));
    return settle(to, positionOf(before) + delta).next - delta;
  }

  /** The row of what is in a sequence's folder. */
  function decode(name: string, found: readonly KeyValue[], revision: string): SequenceRow | undefined {
    const kept = found.find(({ key }) => key === ledgerOf(name));
    if (kept === undefined) return undefined;
    const takenOf = (ledger: string) => {
      const folder = ticketsOf(name, ledger);
      return blocksOf(found.filter(({ key }) => fromBase64(key).startsWith(folder)).map(ticketOf));
    };
    const ledger = decodeLedger(name, fromBase64(kept.value ?? ''));
    const start = startOf(ledger, takenOf);
    const taken = takenOf(kept.mod_revision);
    const row = afterBlocks(start, taken);
    const spent = ledger.moved?.tickets;
    const { mod_revision: at, create_revision: defined } = kept;
    sights.set(row, { revision: BigInt(revision), ledger: at, defined, start, taken, spent });
    return row;
  }

  function sightOf(row: SequenceRow): Sight {
    const sight = sights.get(row);
    if (sight === undefined)
      throw new StoreError(`etcd store: sequence ${show(row.name)} was not read before`);
    return sight;
  }

  return {
    async insert(row) {
      const isNew = { key: ledgerOf(row.name), result: 'EQUAL', target: 'VERSION', version: '0' };
      const found = await commit(`defining sequence ${show(row.name)}`, [isNew], [putLedger({ row })]);
      return found !== undefined;
    },

    async read(name) {
      const range = rangeOf(folderOf(name));
      const { reply } = await ask(`reading sequence ${show(name)}`, '/v3/kv/range', range);
      return decode(name, reply.kvs ?? [], reply.header.revision);
    },

    async list() {
      const { reply } = await ask('listing sequences', '/v3/kv/range', rangeOf(root));
      const folders = new Map<string, KeyValue[]>();
      for (const found of reply.kvs ?? []) {
        const [folder = ''] = fromBase64(found.key).slice(root.length).split('/', 1);
        const others = folders.get(folder);
        if (others === undefined) folders.set(folder, [found]);
        else others.push(found);
      }
      const rows = [...folders].map(([folder, found]) =>
        decode(decodeURIComponent(folder), found, reply.header.revision),
      );
      return rows.filter((row) => row !== undefined);
    },

    swap,

    async delete(row) {
      const { name } = row;
      const { defined } = sightOf(row);
      const isThere = { key: ledgerOf(name), result: 'EQUAL', target: 'CREATE', create_revision: defined };
      const success = [{ request_delete_range: rangeOf(folderOf(name)) }];
      return (await commit(`removing sequence ${show(name)}`, [isThere], success)) !== undefined;
    },

    async advance(from, change, to) {
      if (!canMove(from, change)) return undefined;
      return to === from ? take(from, change.delta / unitOf(from)) : move(from, change.delta, to);
    },
  };
}

/** What a ticket is for, and how many times it was put. */
function ticketOf({ key, version }: KeyValue): readonly [power: number, count: bigint] {
  const name = fromBase64(key);
  return [Number(name.slice(name.lastIndexOf('/') + 1)), BigInt(version)];
}
