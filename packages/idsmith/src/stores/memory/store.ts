import { type LeaseRecord, type LeaseStore, sameRecord } from '../../lease/port.js';
import type { SequenceStore } from '../../sequence/port.js';
import { sequenceStore } from '../../sequence/rows.js';
import { memoryRows } from './sequences.js';

/** What every store is: leases and sequences, and something to close. */
export interface Store extends LeaseStore, SequenceStore {
  close(): Promise<void>;
}

/**
 * A store in the memory of this process, for tests and for programs that run once. It is durable in its way: it lasts
 * as long as the generators that it serves.
 */
export function memoryStore(): Store {
  const namespaces = new Map<string, Map<number, LeaseRecord>>();
  const recordsOf = (namespace: string) => {
    const records = namespaces.get(namespace) ?? new Map<number, LeaseRecord>();
    namespaces.set(namespace, records);
    return records;
  };
  return {
    ...sequenceStore(memoryRows()),
    durable: true,

    async listLeases(namespace) {
      return [...recordsOf(namespace).values()].map((record) => ({ ...record }));
    },

    async swapLease(namespace, expected, next) {
      const records = recordsOf(namespace);
      if (!sameRecord(records.get(next.id), expected)) return false;
      records.set(next.id, { ...next });
      return true;
    },

    async close() {},
  };
}
