import { requireTrial } from '../../lease/namespace.js';
import { type LeaseRecord, type LeaseStore, OWN_IDS, sameRecord } from '../../lease/port.js';
import { refuse } from '../../options.js';
import { canMove, type SequenceRow } from '../../sequence/blocks.js';
import type { SequenceStore } from '../../sequence/port.js';
import { isLike, type SequenceRows, sequenceStore } from '../../sequence/rows.js';
import { makeStore } from '../make-store.js';
import type { DisposableStore } from '../store.js';

/**
 * A store of its own in the memory of this process, for tests that want a fresh one. It counts as durable: it lasts as long as the
 * generators that use it. Two such stores can give out the same ids. The URL `memory:` is one store for the whole process.
 *
 * @throws InvalidOptionError when it is given anything: it has no options
 */
export function memoryStore(...options: never[]): DisposableStore {
  if (options.length > 0) refuse('memoryStore', 'called without arguments', options[0]);
  return makeStore('memory', { ...memoryLeases(new Map()), ...sequenceStore(memoryRows()), durable: true });
}

/** The records of each namespace, by node id. */
type Namespaces = Map<string, Map<number, LeaseRecord>>;

/** The memory of the URL `memory:`. */
interface NamedMemory {
  readonly namespaces: Namespaces;
  /** The numbers of sequences, for all who have the URL open. */
  sequences: SequenceStore;
  users: number;
}

const MEMORY = Symbol.for('idsmith.memory');

/**
 * The store of the URL `memory:`, one for all who have it open in this thread. When the last of them has closed it, sequences and layouts
 * are forgotten. What was promised of node ids stays, so that no later lease repeats ids of an earlier one.
 */
export function openMemory(): DisposableStore {
  // In the realm, because hot reload evaluates this module again.
  const realm = globalThis as { [MEMORY]?: NamedMemory };
  realm[MEMORY] ??= { namespaces: new Map(), sequences: sequenceStore(memoryRows()), users: 0 };
  const memory = realm[MEMORY];
  memory.users++;
  const end = () => {
    if (--memory.users > 0) return;
    memory.sequences = sequenceStore(memoryRows());
    for (const records of memory.namespaces.values()) for (const id of OWN_IDS) records.delete(id);
  };
  return makeStore(
    'memory',
    { ...memoryLeases(memory.namespaces), ...memory.sequences, durable: true },
    { end },
  );
}

/** Leases in the memory of this process. */
function memoryLeases(namespaces: Namespaces): LeaseStore {
  const recordsOf = (namespace: string) => namespaces.get(namespace) ?? new Map<number, LeaseRecord>();
  return {
    async namespaces() {
      return [...namespaces.keys()].sort();
    },

    async listLeases(namespace) {
      return [...recordsOf(namespace).values()].map((record) => ({ ...record }));
    },

    async readLeases(namespace, first, count) {
      const ids = [...OWN_IDS, ...Array.from({ length: count }, (_, i) => first + i)];
      const found = ids.map((id) => recordsOf(namespace).get(id));
      return found.filter((record) => record !== undefined).map((record) => ({ ...record }));
    },

    async swapLease(namespace, expected, next) {
      const records = recordsOf(namespace);
      if (!sameRecord(records.get(next.id), expected)) return false;
      records.set(next.id, { ...next });
      namespaces.set(namespace, records);
      return true;
    },

    async removeTrial(namespace) {
      namespaces.delete(requireTrial(namespace));
    },
  };
}

/** Sequence rows in the memory of this process. */
export function memoryRows(): SequenceRows {
  const rows = new Map<string, SequenceRow>();
  return {
    async insert(row) {
      if (rows.has(row.name)) return false;
      rows.set(row.name, row);
      return true;
    },

    async read(name) {
      return rows.get(name);
    },

    async list() {
      return [...rows.values()];
    },

    async swap(expected, next) {
      const row = rows.get(expected.name);
      if (!isLike(row, expected, [])) return false;
      rows.set(row.name, next);
      return true;
    },

    async delete({ name, generation }) {
      return rows.get(name)?.generation === generation && rows.delete(name);
    },

    async advance(from, move, to) {
      const row = rows.get(from.name);
      const isAllocation = to === from;
      if (!isLike(row, from, isAllocation ? ['next', 'mark'] : ['next'])) return undefined;
      if (!canMove(row, move)) return undefined;
      const { mark } = isAllocation ? row : to;
      rows.set(row.name, { ...to, mark, next: row.next + move.delta });
      return row.next;
    },
  };
}
