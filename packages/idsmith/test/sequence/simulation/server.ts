import type { SequenceDefinition } from 'idsmith';
import type { SequenceRow } from '../../../src/sequence/blocks.ts';
import { type SequenceRows, sequenceStore } from '../../../src/sequence/rows.ts';
import { memoryRows } from '../../../src/stores/memory/sequences.ts';
import type { Ledger } from './ledger.ts';

/** The one store that all processes share: the rows in the memory of a server that tells a ledger of every move. */
export class SequenceServer {
  isUp = true;
  readonly #rows: SequenceRows;
  readonly #ledger: Ledger;

  /** @param makeRows makes the rows: those of the memory store, unless something is to be wrong with them */
  constructor(ledger: Ledger, makeRows = memoryRows) {
    this.#ledger = ledger;
    this.#rows = makeRows();
  }

  /** Defines the sequence, after it was removed if it is there. */
  async define(definition: SequenceDefinition): Promise<void> {
    const store = sequenceStore(this.rowsOf('the operator'));
    await store.removeSequence(definition.name).catch(() => {});
    await store.defineSequence(definition);
  }

  /** The rows as requests of a process find them. */
  rowsOf(process: string): SequenceRows {
    const rows = this.#rows;
    const watch = async <T>(name: string, change: () => Promise<T>): Promise<T> => {
      // The rows do their work at once, so nothing comes between these three.
      const [before, result, after] = await Promise.all([rows.read(name), change(), rows.read(name)]);
      this.#tell(before, after, process);
      return result;
    };
    return {
      ...rows,
      insert: (row) => watch(row.name, () => rows.insert(row)),
      swap: (expected, next) => watch(next.name, () => rows.swap(expected, next)),
      advance: (from, move, to) => watch(from.name, () => rows.advance(from, move, to)),
    };
  }

  #tell(before: SequenceRow | undefined, after: SequenceRow | undefined, process: string): void {
    if (after === undefined) return;
    if (before === undefined) this.#ledger.beginLife();
    else if (before !== after) this.#ledger.moved(before, after, process);
  }
}
