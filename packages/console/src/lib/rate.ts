import { usageOf } from './sequence.js';
import type { SequenceJson } from '../api/types.js';

/** How far a sequence was at a time. */
export interface Sample {
  /** Unix ms. */
  readonly at: number;
  readonly used: bigint;
}

/** What is looked back at, ms: blocks come in leaps, and a rate should not. */
const WINDOW = 60_000;

/** The samples of each sequence, by its name. */
export type Samples = ReadonlyMap<string, readonly Sample[]>;

/** The samples with those of another look at the sequences. What has gone back, or is another sequence, begins anew. */
export function withSamples(samples: Samples, sequences: readonly SequenceJson[], at: number): Samples {
  return new Map(
    sequences.map((sequence) => {
      const { used } = usageOf(sequence);
      const before = samples.get(sequence.name) ?? [];
      const last = before.at(-1);
      const kept = last !== undefined && last.used <= used ? before.filter((each) => at - each.at <= WINDOW) : [];
      return [sequence.name, [...kept, { at, used }]];
    }),
  );
}

/** Ids a second; `undefined` until there are two samples a second apart. */
export function rateOf(samples: readonly Sample[] = []): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.at - first.at < 900) return undefined;
  return (Number(last.used - first.used) * 1000) / (last.at - first.at);
}

/** When a sequence runs out, if it goes on like this. */
export type Forecast =
  | { readonly kind: 'measuring' | 'idle' | 'never' | 'exhausted' | 'cycle' }
  | { readonly kind: 'date'; readonly at: number };

/** The last time that a `Date` can hold. */
const END_OF_TIME = 8.64e15;

export function forecastOf(sequence: SequenceJson, rate: number | undefined, now: number): Forecast {
  if (sequence.exhausted) return { kind: 'exhausted' };
  if (sequence.cycle) return { kind: 'cycle' };
  if (rate === undefined) return { kind: 'measuring' };
  if (rate === 0) return { kind: 'idle' };
  const at = now + (Number(usageOf(sequence).left) / rate) * 1000;
  return at > END_OF_TIME ? { kind: 'never' } : { kind: 'date', at };
}
