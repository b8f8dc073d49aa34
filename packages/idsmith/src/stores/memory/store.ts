import { sequenceStore } from '../../sequence/rows.js';
import { makeStore } from '../make-store.js';
import type { DisposableStore } from '../store.js';
import { memoryLeases } from './leases.js';
import { memoryRows } from './sequences.js';

/**
 * A store in the memory of this process, for tests and for programs that run once. The store counts as durable: it lasts as
 * long as the generators that use it.
 */
export function memoryStore(): DisposableStore {
  return makeStore('memory', { ...memoryLeases(), ...sequenceStore(memoryRows()), durable: true });
}
