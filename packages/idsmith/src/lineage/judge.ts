// What to do when a store may have gone back in time: a replica was promoted, a backup restored, a file replaced by an older copy. All of it
// is pure. A store only tells its lineage, a text that changes whenever acknowledged writes may be gone. Namespaces and sequences carry the
// lineage in which they were last known to be whole.

/** What to do now. */
export type Verdict =
  /** Nothing is lost, or nothing can be known. */
  | { readonly kind: 'go-on' }
  /** The lineage is not recorded yet: record it, then go on. */
  | { readonly kind: 'record' }
  /** Windows that the store may have forgotten end at this time, ms. */
  | { readonly kind: 'wait-until'; readonly time: number }
  /** Numbers before this one may have been given out. */
  | { readonly kind: 'continue-at'; readonly next: bigint }
  /** Nobody but a person can tell where to go on. */
  | { readonly kind: 'refuse' };

const GO_ON: Verdict = { kind: 'go-on' };

/** What a store tells about itself, in one answer. */
export interface Moment {
  /** The store's clock, ms. */
  readonly now: number;
  /** The store's lineage; `undefined` if the store cannot tell it. */
  readonly lineage: string | undefined;
}

/**
 * Judges whether node ids of a namespace may be claimed.
 *
 * The acknowledged writes of the last moments may be gone, but all of them were made before the store told its new lineage, so before `now`. A
 * window that was forgotten ends at most `longest` later. The skew counts twice: the clocks before and after may be wrong in opposite directions.
 *
 * @param recorded the lineage that the namespace carries; `undefined` if it carries none
 * @param longest the longest window that anybody may have been granted, ms
 */
export function judgeNamespace(
  recorded: string | undefined,
  { now, lineage }: Moment,
  longest: number,
  maxSkew: number,
): Verdict {
  if (lineage === undefined || recorded === lineage) return GO_ON;
  if (recorded === undefined) return { kind: 'record' };
  return { kind: 'wait-until', time: now + longest + 2 * maxSkew };
}

/**
 * Judges whether node ids of a namespace may be claimed by a process that has found a write of its own missing, whatever lineage the store tells.
 * Windows of others may be forgotten, too.
 *
 * @param floor the time before which no window of the namespace may begin, ms
 * @param lostWrite the store's time of the write that is missing, ms; `undefined` if none is. A wait that was set after it covers the loss.
 */
export function judgeLoss(
  floor: number,
  lostWrite: number | undefined,
  { now }: Moment,
  longest: number,
  maxSkew: number,
): Verdict {
  const wait = longest + 2 * maxSkew;
  if (lostWrite === undefined || floor >= lostWrite + wait) return GO_ON;
  return { kind: 'wait-until', time: Math.max(now, lostWrite) + wait };
}

/**
 * Tells whether a lease may have run out before a renewal was carried out that is answered now. Then another process may have had its node id,
 * in writes that the store has lost since. Clocks of servers that follow each other may differ by twice the skew.
 *
 * @param left the time that the lease had left before the renewal, by the store's clock, ms
 * @param passed the time since the renewal before, by the clock of this process, ms; less than 0 if that clock went back
 */
export function isLateRenewal(left: number, passed: number, ttl: number, maxSkew: number): boolean {
  const margin = Math.max(ttl / 3, Math.min(2 * maxSkew, ttl / 2));
  // Written so that a clock that gives no number counts as late.
  return !(left >= margin && passed >= 0 && passed < ttl - margin);
}

/** What a store remembers of a sequence, beside its row. */
export interface SequencePast {
  /** The lineage in which the sequence was last known to be whole. */
  readonly lineage: string;
  /** The number to continue at after a loss. `undefined` if the store has none: then a person must tell. */
  readonly ceiling: bigint | undefined;
}

/**
 * Judges whether numbers of a sequence may be given out.
 *
 * @param recorded what the store remembers of the sequence; `undefined` if nothing
 * @param lineage the store's lineage; `undefined` if it cannot tell
 * @param position the next number by the row of the sequence
 * @param step the direction of the sequence is its sign
 */
export function judgeSequence(
  recorded: SequencePast | undefined,
  lineage: string | undefined,
  position: bigint,
  step: number,
): Verdict {
  if (lineage === undefined || recorded?.lineage === lineage) return GO_ON;
  if (recorded === undefined) return { kind: 'record' };
  if (recorded.ceiling === undefined) return { kind: 'refuse' };
  return { kind: 'continue-at', next: further(position, recorded.ceiling, step) };
}

/** What a store remembers of itself, to tell sequences that are new from those that it may have lost. */
export interface StorePast {
  /** The lineage in which the store has looked at itself last. */
  readonly lineage: string;
  /** The store's time when a loss was found last, ms; 0 if none was since a person has vouched for the store. */
  readonly lossAt: number;
  /** The number of losses since then. */
  readonly losses: number;
}

/**
 * What a store remembers of itself from now on.
 *
 * @param recorded what it has remembered until now; `undefined` if nothing. Then it is new, or from a time before it remembered.
 */
export function followStore(
  recorded: StorePast | undefined,
  { now, lineage }: Moment & { readonly lineage: string },
): StorePast {
  if (recorded === undefined) return { lineage, lossAt: 0, losses: 0 };
  if (recorded.lineage === lineage) return recorded;
  return { lineage, lossAt: now, losses: recorded.losses + 1 };
}

/** The longest difference of the clocks of two servers that follow each other, ms. */
const CLOCK_ERROR = 60_000;

/**
 * Tells whether a sequence that is not in the store may have given out numbers all the same. Its definition may be lost with them, at any loss
 * of the past, and nothing of it is left.
 *
 * @param notBefore a time before which none of its numbers can have been given out, Unix ms
 */
export const mayBeForgotten = ({ lossAt }: StorePast, notBefore: number): boolean =>
  lossAt > 0 && notBefore <= lossAt + CLOCK_ERROR;

/**
 * Judges a server that answers, where lineages have an order. A server of an earlier lineage than one that has answered before was replaced, and
 * goes on beside the new one.
 *
 * @param latest the latest lineage that this process has seen; `undefined` if none
 */
export function judgeServer(latest: number | undefined, lineage: number): Verdict {
  return latest === undefined || lineage >= latest ? GO_ON : { kind: 'refuse' };
}

/** The one of two numbers that a sequence reaches later. */
export function further(a: bigint, b: bigint, step: number): bigint {
  return (step > 0 ? a > b : a < b) ? a : b;
}
