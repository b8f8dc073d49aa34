import type { Clock } from '../clock.js';
import { InvalidOptionError, SequenceExhaustedError } from '../errors.js';
import { show } from '../options.js';
import { report } from '../support/diagnostics.js';
import { isBlock, joined, partOf, withOrigin } from './block.js';
import type { Block, BlockSource } from './port.js';
import type { PrefetchPolicy } from './prefetch.js';
import { type SequenceTime, SurplusWatch } from './surplus.js';

/** The longest distance from the first id of a run to its end. Offsets within a run then fit 32 bits. */
const LONGEST_SPAN = 2 ** 30;

/** The parts of a {@link Supply}. */
export interface SupplySettings {
  /** The name of the sequence. */
  readonly name: string;
  readonly source: BlockSource;
  readonly policy: PrefetchPolicy;
  readonly time: SequenceTime;
}

/** The run that is being handed out, and those who wait. */
export interface Demand {
  /** The number of ids left in the run. */
  left(): number;
  /** The rest of the run, if an id is left. */
  rest(): Block | undefined;
  /** Takes ids off the end of the run, which has at least as many. */
  cut(count: number): Block;
  /** The number of ids that callers wait for. */
  wanted(): number;
}

/** The runs of ids at hand after the one that is being handed out. Fetches more, and gives back the ids that nobody needs. */
export class Supply {
  readonly #name: string;
  readonly #source: BlockSource;
  readonly #policy: PrefetchPolicy;
  readonly #demand: Demand;
  readonly #stopwatch: Clock;
  readonly #surplus: SurplusWatch;
  #runs: Block[] = [];
  /** The number of ids in `#runs`, kept up to date so that nobody has to sum them up. */
  #waiting = 0;
  #fetching: Promise<void> | undefined;
  /** A tail on its way back. No fetch begins meanwhile. */
  #returning: Promise<unknown> | undefined;
  #closed = false;
  /** The number of calls of `drop()`. A run that was asked for before a call is dropped, too. */
  #drops = 0;
  /** The number of all ids that were fetched and neither dropped nor given back. */
  #fetched = 0;
  /** The number of ids handed out when the last fetch began. */
  #handedOut = 0;
  /** The error of the last fetch or of a tail on its way back, if one of them failed since a fetch succeeded. */
  lastError: unknown;

  constructor({ name, source, policy, time }: SupplySettings, demand: Demand) {
    this.#name = name;
    this.#source = source;
    this.#policy = policy;
    this.#demand = demand;
    this.#stopwatch = time.clock ?? { now: () => performance.now() };
    const handedOut = () => this.#fetched - this.left;
    this.#surplus = new SurplusWatch(time, handedOut, (used) => this.#returnSurplus(used));
  }

  get isFetching(): boolean {
    return this.#fetching !== undefined;
  }

  /** The number of all ids at hand; 0 after the supply is closed. */
  get left(): number {
    return this.#closed ? 0 : this.#waiting + this.#demand.left();
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
    await this.#returning;
    if (this.#closed) return;
    const { left } = this;
    const handedOut = this.#fetched - left;
    const startedAt = this.#stopwatch.now();
    const since = handedOut - this.#handedOut;
    const start = { now: startedAt, left, wanted: this.#demand.wanted(), handedOut: since };
    const blocks = this.#policy.blocksToFetch(start);
    const drops = this.#drops;
    try {
      const run = requireRun(this.#name, await this.#source.allocate(blocks));
      const duration = this.#stopwatch.now() - startedAt;
      const { count } = run;
      this.lastError = undefined;
      if (drops === this.#drops) {
        this.#policy.fetched({ duration, blocks, count });
        this.#handedOut = handedOut;
        this.#fetched += count;
        this.#push(run);
        if (this.#source.isLast && !this.#closed && this.left > this.#policy.resting) this.#surplus.start();
      }
      this.#tell('fetched', { blocks, count, duration });
    } catch (error) {
      this.lastError = error;
      this.#tell(error instanceof SequenceExhaustedError ? 'exhausted' : 'fetch-failed', { blocks, error });
      throw error;
    }
  }

  #push(run: Block): void {
    this.#runs.push(run);
    this.#waiting += run.count;
  }

  /**
   * Gives back what is at hand beyond `used`, the ids of the last second, and beyond a rest. Leaves all ids at hand if somebody has
   * allocated since.
   *
   * @returns whether to look again in a second
   */
  async #returnSurplus(used: number): Promise<boolean> {
    const drops = this.#drops;
    const keep = Math.max(this.#policy.resting, used);
    const isBusy = () => this.isFetching || this.#demand.wanted() > 0 || this.left <= keep;
    if (!isBusy()) {
      this.#policy.rested(used);
      this.#runs = joined(this.#runs);
      const last = this.#runs.at(-1) ?? (this.#demand.rest() as Block);
      if (!(await this.#isLast(last)) || this.#closed || drops !== this.#drops) return false;
      if (!isBusy()) {
        this.#returning = this.#giveBack(this.#cutEnd(this.left - keep));
        await this.#returning;
        this.#returning = undefined;
      }
    }
    return !this.#closed && this.left > this.#policy.resting;
  }

  async #isLast(run: Block): Promise<boolean> {
    try {
      return (await this.#source.isLast?.(run)) ?? false;
    } catch {
      return false;
    }
  }

  /** Takes up to `count` ids off the end of the last run. */
  #cutEnd(count: number): Block {
    const last = this.#runs.pop();
    let tail: Block;
    if (last === undefined) tail = this.#demand.cut(Math.min(count, this.#demand.left()));
    else {
      const kept = Math.max(0, last.count - count);
      this.#waiting -= last.count;
      if (kept > 0) this.#push(partOf(last, 0, kept));
      tail = partOf(last, kept, last.count - kept);
    }
    this.#fetched -= tail.count;
    return tail;
  }

  /**
   * Gives a tail back, which nobody hands out any more. If the store cannot be reached, or others have allocated since, the tail is a
   * gap: a driver may have sent the question twice, and then the answer to the second does not tell of the first.
   */
  async #giveBack(tail: Block): Promise<boolean> {
    const { first, count } = tail;
    try {
      const returned = (await this.#source.giveBack?.(tail)) ?? false;
      this.#tell('given-back', { first, count, returned });
      return returned;
    } catch (error) {
      this.lastError = error;
      this.#tell('give-back-failed', { first, count, error });
      return false;
    }
  }

  /** Forgets the ids at hand, and those that are being fetched. They are never given back. */
  drop(): void {
    this.#fetched -= this.left;
    this.#runs = [];
    this.#waiting = 0;
    this.#drops++;
  }

  /** Gives the unused ids back, including the end of the current run, as far as they are the last ones that the source gave. */
  async close(current: Block | undefined): Promise<void> {
    this.#closed = true;
    this.#surplus.stop();
    const drops = this.#drops;
    await this.#fetching?.catch(() => {});
    await this.#returning;
    const tails = joined(current ? [current, ...this.#runs] : this.#runs);
    this.#runs = [];
    this.#waiting = 0;
    for (const tail of tails.reverse()) if (drops !== this.#drops || !(await this.#giveBack(tail))) return;
  }

  #tell(event: string, details: object): void {
    report('idsmith:sequence', () => ({ event, name: this.#name, ...details }));
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
