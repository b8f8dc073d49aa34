import { InvalidOptionError, SequenceExhaustedError } from '../errors.js';
import { show } from '../options.js';
import { report } from '../support/diagnostics.js';
import { endOf, isBlock, partOf, withOrigin } from './block.js';
import type { Block, BlockSource } from './port.js';
import type { PrefetchPolicy } from './prefetch.js';

/** The longest distance from the first id of a run to its end. Offsets within a run then fit 32 bits. */
const LONGEST_SPAN = 2 ** 30;

/** The parts of a {@link Supply}. */
export interface SupplySettings {
  /** The name of the sequence. */
  readonly name: string;
  readonly source: BlockSource;
  readonly policy: PrefetchPolicy;
}

/** The runs of ids at hand after the one that is being handed out. Fetches more. */
export class Supply {
  readonly #name: string;
  readonly #source: BlockSource;
  readonly #policy: PrefetchPolicy;
  readonly #leftOfRun: () => number;
  readonly #wanted: () => number;
  #runs: Block[] = [];
  /** The number of ids in `#runs`, kept up to date so that nobody has to sum them up. */
  #waiting = 0;
  #fetching: Promise<void> | undefined;
  #closed = false;
  /** The number of calls of `drop()`. A run that was asked for before a call is dropped, too. */
  #drops = 0;
  /** The number of all ids that were fetched, and the number of ids handed out when the last fetch began. */
  #fetched = 0;
  #handedOut = 0;
  /** The error of the last fetch, if it failed. */
  lastError: unknown;

  /**
   * @param leftOfRun gives the number of ids left in the run that is being handed out
   * @param wanted gives the number of ids that callers wait for
   */
  constructor({ name, source, policy }: SupplySettings, leftOfRun: () => number, wanted: () => number) {
    this.#name = name;
    this.#source = source;
    this.#policy = policy;
    this.#leftOfRun = leftOfRun;
    this.#wanted = wanted;
  }

  get isFetching(): boolean {
    return this.#fetching !== undefined;
  }

  /** The number of all ids at hand; 0 after the supply is closed. */
  get left(): number {
    return this.#closed ? 0 : this.#waiting + this.#leftOfRun();
  }

  /** The number of ids at hand at which the next fetch begins. */
  get lowWater(): number {
    return this.#policy.lowWater;
  }

  /** True when ids are fetched before they are needed. */
  get isAhead(): boolean {
    return this.#policy.isAhead;
  }

  /** The next run. A run that spans more than 31 bits is given in parts. */
  shift(): Block | undefined {
    const run = this.#runs.shift();
    if (run === undefined) return undefined;
    const most = Math.max(1, Math.floor(LONGEST_SPAN / Math.abs(run.step)));
    const count = Math.min(run.count, most);
    this.#waiting -= count;
    if (count === run.count) return run;
    this.#runs.unshift(partOf(run, count, run.count - count));
    return partOf(run, 0, count);
  }

  /**
   * Fetches a run. Callers during a fetch share it.
   *
   * @throws the error of the source
   */
  fetch(): Promise<void> {
    this.#fetching ??= this.#load().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  /** Fetches a run in the background. A failure is dropped: the next caller that needs an id fetches again and gets the error. */
  fetchAhead(): void {
    if (!this.#closed && !this.#fetching) this.fetch().catch(() => {});
  }

  async #load(): Promise<void> {
    // Callers of the same moment are counted in.
    await undefined;
    if (this.#closed) return;
    const blocks = this.#policy.blocksToFetch(this.left, this.#wanted());
    try {
      await this.#allocate(blocks);
      this.lastError = undefined;
    } catch (error) {
      this.lastError = error;
      const event = error instanceof SequenceExhaustedError ? 'exhausted' : 'fetch-failed';
      report('idsmith:sequence', () => ({ event, name: this.#name, blocks, error }));
      throw error;
    }
  }

  async #allocate(blocks: number): Promise<void> {
    const startedAt = performance.now();
    const handedOut = this.#fetched - this.left;
    const drops = this.#drops;
    const run = requireRun(this.#name, await this.#source.allocate(blocks));
    const endedAt = performance.now();
    const { count } = run;
    if (drops === this.#drops) {
      this.#policy.fetched({ startedAt, endedAt, handedOut: handedOut - this.#handedOut, blocks, count });
      this.#runs.push(run);
      this.#waiting += count;
      this.#fetched += count;
      this.#handedOut = handedOut;
    }
    report('idsmith:sequence', () => ({
      event: 'fetched',
      name: this.#name,
      blocks,
      count,
      duration: endedAt - startedAt,
    }));
  }

  /** Gives a tail back. If the store cannot be reached, or others have allocated since, the tail is a gap. */
  async #giveBack(tail: Block): Promise<boolean> {
    const { first, count } = tail;
    try {
      const returned = (await this.#source.giveBack?.(tail)) ?? false;
      report('idsmith:sequence', () => ({ event: 'given-back', name: this.#name, first, count, returned }));
      return returned;
    } catch (error) {
      report('idsmith:sequence', () => ({
        event: 'give-back-failed',
        name: this.#name,
        first,
        count,
        error,
      }));
      return false;
    }
  }

  /** Forgets the ids at hand, and those that are being fetched. They are never given back. */
  drop(): void {
    this.#runs = [];
    this.#waiting = 0;
    this.#drops++;
  }

  /** Gives the unused ids back, including the end of the current run, as far as they are the last ones that the source gave. */
  async close(current: Block | undefined): Promise<void> {
    this.#closed = true;
    const drops = this.#drops;
    await this.#fetching?.catch(() => {});
    const tails = joined(current ? [current, ...this.#runs] : this.#runs);
    this.#runs = [];
    this.#waiting = 0;
    for (const tail of tails.reverse()) if (drops !== this.#drops || !(await this.#giveBack(tail))) return;
  }
}

/** A copy of the run that a source gave, after a check. Users write sources, and may use their objects again. */
function requireRun(name: string, run: Block): Block {
  if (isBlock(run)) return withOrigin({ first: run.first, step: run.step, count: run.count }, run.origin);
  const { first, step, count } = (run ?? {}) as Partial<Block>;
  throw new InvalidOptionError(
    `the source of sequence ${show(name)} must give a first id, a step and a count of at least 1, not ` +
      `${show(first)}, ${show(step)} and ${show(count)}`,
  );
}

/** The runs, with those that follow each other joined. */
function joined(runs: readonly Block[]): Block[] {
  const result: Block[] = [];
  for (const run of runs) {
    const last = result.at(-1);
    const follows = last && run.first === endOf(last) && run.step === last.step && run.origin === last.origin;
    if (follows) result[result.length - 1] = partOf(last, 0, last.count + run.count);
    else result.push(run);
  }
  return result;
}
