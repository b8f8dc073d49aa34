import type { Block } from './port.js';

/** The id after the last one of a run. */
export function endOf({ first, step, count }: Block): bigint {
  return first + BigInt(step) * BigInt(count);
}

/** A part of a run that begins `skipped` ids after the beginning of the run. */
export function partOf(run: Block, skipped: number, count: number): Block {
  const first = run.first + BigInt(run.step) * BigInt(skipped);
  return withOrigin({ first, step: run.step, count }, run.origin);
}

/** The block with its origin, as a property that is not enumerable. */
export function withOrigin(block: Block, origin: number | undefined): Block {
  return origin === undefined ? block : Object.defineProperty(block, 'origin', { value: origin });
}

/** Tells whether a value is a run of at least one id. */
export function isBlock(value: unknown): value is Block {
  const { first, step, count } = (value ?? {}) as Partial<Block>;
  const isStep = Number.isSafeInteger(step) && step !== 0;
  return typeof first === 'bigint' && isStep && Number.isSafeInteger(count) && (count as number) >= 1;
}

/** The runs, with those that follow each other joined. */
export function joined(runs: readonly Block[]): Block[] {
  const result: Block[] = [];
  for (const run of runs) {
    const last = result.at(-1);
    const follows = last && run.first === endOf(last) && run.step === last.step && run.origin === last.origin;
    if (follows) result[result.length - 1] = partOf(last, 0, last.count + run.count);
    else result.push(run);
  }
  return result;
}

/** The longest distance from the first id of a run to its end. Offsets within a run then fit 32 bits. */
const LONGEST_SPAN = 2 ** 30;

/** Runs of ids in the order in which they are handed out. */
export class IdBuffer {
  #runs: Block[] = [];
  /** The number of ids in `#runs`, kept up to date so that it need not be summed up. */
  #count = 0;

  /** The number of ids. */
  get count(): number {
    return this.#count;
  }

  push(run: Block): void {
    this.#runs.push(run);
    this.#count += run.count;
  }

  /** Takes the next run out. A run that spans more than 31 bits is given in parts. */
  shift(): Block | undefined {
    const run = this.#runs.shift();
    if (run === undefined) return undefined;
    const most = Math.max(1, Math.floor(LONGEST_SPAN / Math.abs(run.step)));
    const count = Math.min(run.count, most);
    this.#count -= count;
    if (count === run.count) return run;
    this.#runs.unshift(partOf(run, count, run.count - count));
    return partOf(run, 0, count);
  }

  /** The last run, together with those that it follows without a gap. */
  last(): Block | undefined {
    this.#runs = joined(this.#runs);
    return this.#runs.at(-1);
  }

  /** Takes up to `count` ids off the end of the last run. */
  cutEnd(count: number): Block | undefined {
    const last = this.#runs.pop();
    if (last === undefined) return undefined;
    const kept = Math.max(0, last.count - count);
    this.#count -= last.count;
    if (kept > 0) this.push(partOf(last, 0, kept));
    return partOf(last, kept, last.count - kept);
  }

  /** Takes all runs out. */
  clear(): Block[] {
    const runs = this.#runs;
    this.#runs = [];
    this.#count = 0;
    return runs;
  }
}
