import { requireTrial } from '../../lease/namespace.js';
import { type LeaseRecord, type LeaseStore, OWN_IDS, sameRecord } from '../../lease/port.js';

/** Leases in the memory of this process. */
export function memoryLeases(): LeaseStore {
  const namespaces = new Map<string, Map<number, LeaseRecord>>();
  const recordsOf = (namespace: string) => {
    const records = namespaces.get(namespace) ?? new Map<number, LeaseRecord>();
    namespaces.set(namespace, records);
    return records;
  };
  return {
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
      return true;
    },

    async removeTrial(namespace) {
      namespaces.delete(requireTrial(namespace));
    },
  };
}
