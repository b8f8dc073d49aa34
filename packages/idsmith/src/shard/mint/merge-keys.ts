import { type VariantSpan, widthOf } from './variants.js';

/** Consecutive keys of one node. */
export interface KeyBatch {
  readonly keys: readonly string[];
  /** The position of the first key. */
  readonly ms: number;
  readonly variant: number;
  /** The variants that the keys use in each millisecond. */
  readonly span: VariantSpan;
}

/** The keys of one batch in one millisecond. */
interface Segment {
  readonly ms: number;
  readonly variant: number;
  readonly keys: readonly string[];
  readonly from: number;
  readonly to: number;
}

/**
 * Joins batches of several nodes in ascending order. Every millisecond belongs to one node, so whole milliseconds are sorted,
 * and not single keys.
 *
 * @param step the number of nodes: the distance between two milliseconds of one node
 */
export function mergeKeys(batches: readonly KeyBatch[], step: number): string[] {
  const [only] = batches;
  if (batches.length === 1 && only !== undefined) return only.keys as string[];
  const segments = batches.flatMap((batch) => segmentsOf(batch, step));
  segments.sort((a, b) => a.ms - b.ms || a.variant - b.variant);
  const merged = new Array<string>(batches.reduce((sum, { keys }) => sum + keys.length, 0));
  let at = 0;
  for (const { keys, from, to } of segments) for (let i = from; i < to; i++) merged[at++] = keys[i] as string;
  return merged;
}

function segmentsOf({ keys, ms, variant, span }: KeyBatch, step: number): Segment[] {
  const segments: Segment[] = [];
  const width = widthOf(span);
  // The first segment is shorter if the batch begins in the middle of a millisecond.
  let to = Math.min(keys.length, span.last - variant + 1);
  segments.push({ ms, variant, keys, from: 0, to });
  for (let time = ms + step; to < keys.length; time += step) {
    const from = to;
    to = Math.min(keys.length, from + width);
    segments.push({ ms: time, variant: span.first, keys, from, to });
  }
  return segments;
}

/** The millisecond of the last key of a batch. */
export function lastMsOf({ keys, ms, variant, span }: KeyBatch, step: number): number {
  return ms + Math.floor((variant - span.first + keys.length - 1) / widthOf(span)) * step;
}
