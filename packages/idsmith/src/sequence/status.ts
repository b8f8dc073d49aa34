/** The supply of one sequence in this process. */
export interface SequenceStatus {
  readonly name: string;
  readonly state: 'open' | 'closed';
  /** The number of ids at hand. */
  readonly available: number;
  /** The number of ids that callers wait for. */
  readonly wanted: number;
  /** True while ids are fetched from the store. */
  readonly fetching: boolean;
  /**
   * The error of the last fetch, or of ids that could not be given back. A fetch that succeeds removes the error. `close()` does not
   * throw it, because the ids are only a gap.
   */
  readonly lastError?: unknown;
}
