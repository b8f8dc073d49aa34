import type { SequenceJson } from '../api/types.js';
import { usageOf } from './sequence-usage.js';

/** The progress of a sequence at one moment. */
export interface UsageSample {
  /** Unix ms. */
  readonly at: number;
  readonly used: bigint;
  /** The ids allocated since the first sample. */
  readonly drawn: bigint;
}

/** The time over which a rate is measured, ms. Blocks arrive in bursts, so a short time would make the rate jump. */
const WINDOW = 60_000;

/** The samples of each sequence, by name. */
export type UsageSamples = ReadonlyMap<string, readonly UsageSample[]>;

/** Adds a sample of each sequence. Samples of removed sequences are dropped. */
export function withSamples(
  samples: UsageSamples,
  sequences: readonly SequenceJson[],
  at: number,
): UsageSamples {
  return new Map(
    sequences.map((sequence) => {
      const before = samples.get(sequence.name) ?? [];
      return [sequence.name, appended(before, sequence, at)];
    }),
  );
}

function appended(before: readonly UsageSample[], sequence: SequenceJson, at: number): UsageSample[] {
  const { used, total } = usageOf(sequence);
  const last = before.at(-1);
  const isLower = last !== undefined && used < last.used;
  // Without a cycle, a lower number means that the sequence was replaced or altered.
  if (last === undefined || (isLower && !sequence.cycle)) return [{ at, used, drawn: 0n }];
  const drawn = last.drawn + used - last.used + (isLower ? total : 0n);
  return [...before.filter((each) => at - each.at <= WINDOW), { at, used, drawn }];
}

/** Ids per second; `undefined` until two samples lie about a second apart. */
export function rateOf(samples: readonly UsageSample[] = []): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.at - first.at < 900) return undefined;
  return (Number(last.drawn - first.drawn) * 1000) / (last.at - first.at);
}

/** The time when a sequence runs out at its present rate. */
export type Forecast =
  | { readonly kind: 'measuring' | 'idle' | 'exhausted' | 'cycle' }
  | { readonly kind: 'date'; readonly at: number }
  /** Too far ahead for a date. */
  | { readonly kind: 'far'; readonly years: number };

const YEAR = 31_556_952_000;
const FAR = 1000 * YEAR;

export function forecastOf(sequence: SequenceJson, rate: number | undefined, now: number): Forecast {
  if (sequence.exhausted) return { kind: 'exhausted' };
  if (sequence.cycle) return { kind: 'cycle' };
  if (rate === undefined) return { kind: 'measuring' };
  if (rate === 0) return { kind: 'idle' };
  const left = (Number(usageOf(sequence).left) / rate) * 1000;
  return left > FAR ? { kind: 'far', years: left / YEAR } : { kind: 'date', at: now + left };
}
