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
