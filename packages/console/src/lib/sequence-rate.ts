import type { SequenceJson } from '../api/types.js';
import { usageOf } from './sequence-usage.js';

/** How far a sequence was at a time. */
export interface UsageSample {
  /** Unix ms. */
  readonly at: number;
  readonly used: bigint;
  /** How many ids it has given out since the first look. */
  readonly drawn: bigint;
}

/** What is looked back at, ms: blocks come in leaps, and a rate should not. */
const WINDOW = 60_000;

/** The samples of each sequence, by its name. */
export type UsageSamples = ReadonlyMap<string, readonly UsageSample[]>;

/** The samples with those of another look at the sequences. */
export function withSamples(
  samples: UsageSamples,
  sequences: readonly SequenceJson[],
  at: number,
): UsageSamples {
  return new Map(
    sequences.map((sequence) => {
      const before = samples.get(sequence.name) ?? [];
      return [sequence.name, extended(before, sequence, at)];
    }),
  );
}

function extended(before: readonly UsageSample[], sequence: SequenceJson, at: number): UsageSample[] {
  const { used, total } = usageOf(sequence);
  const last = before.at(-1);
  const isBack = last !== undefined && used < last.used;
  // One that does not start over by itself is another one now, or was altered: it begins anew.
  if (last === undefined || (isBack && !sequence.cycle)) return [{ at, used, drawn: 0n }];
  const drawn = last.drawn + used - last.used + (isBack ? total : 0n);
  return [...before.filter((each) => at - each.at <= WINDOW), { at, used, drawn }];
}

/** Ids a second; `undefined` until there are two samples a second apart. */
export function rateOf(samples: readonly UsageSample[] = []): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.at - first.at < 900) return undefined;
  return (Number(last.drawn - first.drawn) * 1000) / (last.at - first.at);
}

/** When a sequence runs out, if it goes on like this. */
export type Forecast =
  | { readonly kind: 'measuring' | 'idle' | 'exhausted' | 'cycle' }
  | { readonly kind: 'date'; readonly at: number }
  /** So far ahead that a date would say nothing. */
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
