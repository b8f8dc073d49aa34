import type { SequenceDefinition } from 'idsmith';
import { COVERED_LOSS } from '../../../src/lineage/ceiling.ts';
import type { SequenceRow } from '../../../src/sequence/blocks.ts';
import type { CeilingRecords } from '../../../src/sequence/past.ts';
import { type SequenceRows, sequenceStore } from '../../../src/sequence/rows.ts';
import { memoryRows } from '../../../src/stores/memory/store.ts';
import type { RewindingServer } from '../../lineage/rewinding-store.ts';
import type { Ledger } from './ledger.ts';

/** The one store that all processes share: the rows in the memory of a server that tells a ledger of every move. */
export class SequenceServer {
  isUp = true;
  readonly #rows: SequenceRows;
  readonly #ledger: Ledger;

  readonly #rewinding: RewindingServer | undefined;
  /** What it had at earlier times, oldest first. */
  #history: { readonly at: number; readonly content: ReturnType<RewindingServer['copy']> }[] = [];

  /**
   * @param rewinding the server whose rows are used, if the store may go back
   * @param makeRows makes the rows else: those of the memory store, unless something is to be wrong with them
   */
  constructor(ledger: Ledger, rewinding: RewindingServer | undefined, makeRows = memoryRows) {
    this.#ledger = ledger;
    this.#rewinding = rewinding;
    this.#rows = rewinding?.rows() ?? makeRows();
  }

  /** Goes on with what it had `ms` ago, as by the promotion of a replica that is behind. */
  goBack(ms: number): void {
    const time = Date.now() - ms;
    const before = this.#history.findLast(({ at }) => at <= time) ?? this.#history[0];
    if (before === undefined) return;
    this.#rewinding?.promote(before.content);
    this.#keepHistory();
  }

  #keepHistory(): void {
    if (this.#rewinding === undefined) return;
    const now = Date.now();
    this.#history.push({ at: now, content: this.#rewinding.copy() });
    // The first one that is older than any loss stays.
    while (this.#history.length > 1 && this.#history[1]!.at < now - COVERED_LOSS) this.#history.shift();
  }

  /** Defines the sequence, after it was removed if it is there. */
  async define(definition: SequenceDefinition): Promise<void> {
    const store = sequenceStore(this.rowsOf('the operator'));
    await store.removeSequence(definition.name).catch(() => {});
    await store.defineSequence(definition);
    this.#history = [];
    this.#keepHistory();
  }

  /** The rows as requests of a process find them. */
  rowsOf(process: string): SequenceRows {
    const rows = this.#rows;
    const watch = async <T>(name: string, change: () => Promise<T>): Promise<T> => {
      // The rows do their work at once, so nothing comes between these three.
      const [before, result, after] = await Promise.all([rows.read(name), change(), rows.read(name)]);
      this.#tell(before, after, process);
      this.#keepHistory();
      return result;
    };
    const past = rows.past as CeilingRecords | undefined;
    const pastOf = ({ write, ...others }: CeilingRecords): CeilingRecords => ({
      ...others,
      write: (...args) => write(...args).finally(() => this.#keepHistory()),
    });
    return {
      ...rows,
      ...(past && { past: pastOf(past) }),
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
