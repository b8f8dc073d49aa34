import { InvalidOptionError } from '../errors.js';
import { show } from '../options.js';
import { endOf, isBlock, partOf, withOrigin } from './block.js';
import type { Block, BlockSource } from './port.js';
import type { PrefetchPolicy } from './prefetch.js';

/** From the first id of a run to the end of it, so that what is added to the first is of 32 bits. */
const LONGEST_SPAN = 2 ** 30;

/** The runs of ids that a sequence has at hand beyond the one it is handing out, and the fetching of more. */
export class Supply {
  readonly #name: string;
  readonly #source: BlockSource;
  readonly #policy: PrefetchPolicy;
  readonly #leftOfRun: () => number;
  #runs: Block[] = [];
  /** How many ids they have. */
  #waiting = 0;
  #fetching: Promise<void> | undefined;
  #closed = false;
  /** All ids that were ever fetched, and how many of them were handed out when the last fetch began. */
  #fetched = 0;
  #handedOut = 0;
  /** How many ids are being waited for. */
  wanted = 0;

  /** @param leftOfRun how many ids are left of the run that is being handed out */
  constructor(name: string, source: BlockSource, policy: PrefetchPolicy, leftOfRun: () => number) {
    this.#name = name;
    this.#source = source;
    this.#policy = policy;
    this.#leftOfRun = leftOfRun;
  }

  get isFetching(): boolean {
    return this.#fetching !== undefined;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** How many ids are at hand in all; none once it is closed. */
  get left(): number {
    return this.#closed ? 0 : this.#waiting + this.#leftOfRun();
  }

  /** With that many ids or fewer at hand it is time to fetch ahead. */
  get lowWater(): number {
    return this.#policy.lowWater;
  }

  /** Whether it fetches before ids are asked for. */
  get isAhead(): boolean {
    return this.#policy.isAhead;
  }

  /** The next run, or the beginning of it if it spans more than 31 bits. */
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
   * Adds a run. Those who call while that goes on share the one fetch.
   *
   * @throws whatever the source does
   */
  fetch(): Promise<void> {
    if (this.#closed) return Promise.reject(this.#closedError());
    this.#fetching ??= this.#load().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  /** The same for nobody in particular: if it fails, those who need an id will learn it. */
  fetchAhead(): void {
    if (!this.#closed && !this.#fetching) this.fetch().catch(() => {});
  }

  async #load(): Promise<void> {
    // Those who ask in the same moment are counted in.
    await undefined;
    if (this.#closed) throw this.#closedError();
    const blocks = this.#policy.blocksToFetch(this.left, this.wanted);
    const startedAt = performance.now();
    const handedOut = this.#fetched - this.left;
    const run = requireRun(this.#name, await this.#source.allocate(blocks));
    const report = { startedAt, endedAt: performance.now(), handedOut: handedOut - this.#handedOut, blocks };
    this.#policy.fetched({ ...report, count: run.count });
    this.#runs.push(run);
    this.#waiting += run.count;
    this.#fetched += run.count;
    this.#handedOut = handedOut;
  }

  async #giveBack(tail: Block): Promise<boolean> {
    return (await this.#source.giveBack?.(tail)) ?? false;
  }

  #closedError(): InvalidOptionError {
    return new InvalidOptionError(`sequence ${show(this.#name)} is closed: get it again`);
  }

  /** Gives back what is left, the current run's end included, as far as it is the source's last. */
  async close(current: Block | undefined): Promise<void> {
    this.#closed = true;
    await this.#fetching?.catch(() => {});
    const tails = joined(current ? [current, ...this.#runs] : this.#runs);
    this.#runs = [];
    for (const tail of tails.reverse()) {
      // If the store cannot be reached the tail is a gap, as it is when others have allocated since.
      const isTaken = await this.#giveBack(tail).catch(() => false);
      if (!isTaken) return;
    }
  }
}

/** What a source gives, if it can be handed out: sources may be anybody's, and may use their objects again. */
function requireRun(name: string, run: Block): Block {
  if (isBlock(run)) return withOrigin({ first: run.first, step: run.step, count: run.count }, run.origin);
  const { first, step, count } = (run ?? {}) as Partial<Block>;
  throw new InvalidOptionError(
    `the source of sequence ${show(name)} must give a first id, a step and a count of at least 1, not ` +
      `${show(first)}, ${show(step)} and ${show(count)}`,
  );
}

/** Runs that follow each other as one. */
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
