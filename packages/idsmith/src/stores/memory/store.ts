import { refuse } from '../../options.js';
import { sequenceStore } from '../../sequence/rows.js';
import { makeStore } from '../make-store.js';
import type { DisposableStore } from '../store.js';
import { memoryLeases } from './leases.js';
import { memoryRows } from './sequences.js';

/**
 * A store in the memory of this process, for tests and for programs that run once. The store counts as durable: it lasts as
 * long as the generators that use it.
 *
 * @throws InvalidOptionError when it is given anything: it has no options
 */
export function memoryStore(...options: never[]): DisposableStore {
  if (options.length > 0) refuse('memoryStore', 'called without arguments', options[0]);
  return makeStore('memory', { ...memoryLeases(), ...sequenceStore(memoryRows()), durable: true });
}
