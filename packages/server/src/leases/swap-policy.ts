import type { LeaseRecord } from 'idsmith';

// The swaps of lease records that a token may make. A pure function: the stored record, the new record and the time are arguments.
//
// The holder of a record proves itself by the owner, and may renew and release the record. Everybody may take a record that is free
// or expired, with the next epoch and a fence that is not lower. All other swaps are refused, so that a token cannot end or shorten
// the window of another holder.

/** The id of the record that says when a namespace begins. */
export const BIRTH_ID = -1;

/** The id of the record that holds the layout of a namespace. */
const LAYOUT_ID = -2;

/** The fence of a birth record that has no date yet. */
export const UNDATED = Number.MAX_SAFE_INTEGER;

/** A fence at most this far ahead, ms, does not make a new holder wait. */
const NEAR = 1000;

/** The longest ttl of a lease, ms. */
const DAY = 86_400_000;

/**
 * The longest ttl that a client may set as the limit of a new namespace, ms, unless the store allows more. Nobody can use the
 * namespace for so long.
 */
const MAX_NAMESPACE_TTL = 3_600_000;

/** The longest time by which the start of a namespace may exceed its longest ttl, ms: for administrators, and for other tokens. */
const [MAX_BIRTH_SKEW, USUAL_BIRTH_SKEW] = [600_000, 60_000];

/** A swap that a caller asks for. */
export interface Swap {
  /** The record in the store; `undefined` if there is none. */
  readonly stored: LeaseRecord | undefined;
  readonly next: LeaseRecord;
  /** True if the caller knows the owner of the stored record, and so is its holder. */
  readonly isHolder: boolean;
}

/** The facts that a swap is judged by. */
export interface SwapContext {
  /** The store's time, read after the stored record. */
  readonly now: number;
  /** The longest ttl of a store that can forget, ms; `undefined` for a durable store. */
  readonly maxTtl: number | undefined;
  /** The longest ttl of the namespace, which its first client has set, ms; `undefined` if there is none. */
  readonly namespaceTtl?: number | undefined;
  /** The longest ttl that the caller may write, ms: the server's own, or `undefined` for an administrator. */
  readonly callerTtl?: number | undefined;
  /** The only layout that the namespace may have; `null` for a namespace without one, `undefined` for any. */
  readonly layout?: string | null | undefined;
  /** The lowest fence that the holder may leave, if it is known. */
  readonly floor: number | undefined;
  /** The lineage of the store, for the birth record of a namespace; `undefined` if the store tells none. */
  readonly lineage?: string | undefined;
  /** The time before which no window of a new namespace may begin, by the store's own birth record, ms. */
  readonly storeFloor?: number | undefined;
}

/** The record to write, or `'taken'` if another holder has the node id, or the reason why nobody may write the record. */
export type SwapVerdict = { readonly put: LeaseRecord } | 'taken' | { readonly refusal: string };

export function judgeSwap(swap: Swap, context: SwapContext): SwapVerdict {
  const { stored, next } = swap;
  if (next.id === BIRTH_ID) return judgeBirth(swap, context);
  if (next.id < LAYOUT_ID) return { refusal: `next.id must be ${LAYOUT_ID} or more, not ${next.id}` };
  if (next.id === LAYOUT_ID)
    return verdict(
      next,
      stored ? 'the layout of a namespace is written once and cannot change' : layoutRefusal(next, context),
    );
  const tooFar = ttlRefusal(swap, context);
  if (tooFar !== undefined) return { refusal: tooFar };
  if (stored === undefined)
    return verdict(
      next,
      next.epoch > 1 ? `next.epoch must be 1 for the first holder, not ${next.epoch}` : undefined,
    );
  return next.owner === null ? judgeRelease(swap, context) : judgeHold(swap, context);
}

const verdict = (put: LeaseRecord, refusal: string | undefined): SwapVerdict =>
  refusal === undefined ? { put } : { refusal };

/** A layout's fingerprint, with a range of node ids behind it or not. */
const LAYOUT =
  /^(-?\d{1,16}\/[1-9]\d{0,8}( node:\d{1,2}@\d{1,2})?( sequence:\d{1,2}@\d{1,2})?)( nodes:\d{1,10}-\d{1,10})?$/;

/** Refuses a layout that no generator of the namespace can have: everybody else would be refused for it. */
function layoutRefusal({ label, ...next }: LeaseRecord, { layout }: SwapContext): string | undefined {
  if (next.owner !== null || next.epoch !== 0 || next.fence !== 0 || next.expiresAt !== 0)
    return 'record -2 must have owner null, and epoch, fence and expiresAt 0';
  const [, fingerprint] = LAYOUT.exec(label) ?? [];
  if (fingerprint === undefined)
    return `next.label must be the fingerprint of a layout, not ${JSON.stringify(label.slice(0, 60))}`;
  if (layout === null) return 'this namespace is for UUIDs, which have no layout';
  return layout === undefined || layout === fingerprint
    ? undefined
    : `the layout of this namespace is ${layout}, not ${fingerprint}: take another namespace`;
}

/** Judges a birth record. A client that knows of no lineage writes one without a date first, then with a date. */
function judgeBirth(swap: Swap, context: SwapContext): SwapVerdict {
  const { next } = swap;
  const { lineage } = context;
  if (lineage === undefined || next.label === NO_LINEAGE || isUndated(swap))
    return verdict({ ...next, label: lineage ?? next.label }, birthRefusal(swap, context));
  return verdict(next, foundingRefusal(swap, context));
}

const isUndated = ({ stored, next }: Swap) => next.fence === UNDATED || stored?.fence === UNDATED;

/** Judges a release. The fence may return to its floor. Without a known floor the fence stays just ahead of now. */
function judgeRelease({ stored, next, isHolder }: Swap, { now, floor }: SwapContext): SwapVerdict {
  const { epoch, fence } = stored as LeaseRecord;
  if (!isHolder) return { refusal: 'expected.owner must be the owner itself to release a lease' };
  if (next.epoch !== epoch) return { refusal: `next.epoch must be ${epoch}, not ${next.epoch}` };
  if (next.fence > fence) return { refusal: `next.fence must be at most ${fence}, not ${next.fence}` };
  const lowest = Math.min(fence, floor ?? now + NEAR);
  return { put: { ...next, fence: Math.max(next.fence, lowest), expiresAt: 0 } };
}

/** Judges a renewal by the holder, or a new holder that takes the node id. */
function judgeHold({ stored, next, isHolder }: Swap, { now }: SwapContext): SwapVerdict {
  const { owner, epoch, fence, expiresAt } = stored as LeaseRecord;
  if (next.fence < fence)
    return {
      refusal: `next.fence must be at least ${fence} unless the lease is released, not ${next.fence}`,
    };
  if (next.epoch === epoch + 1) {
    const isFree = (owner === null || expiresAt <= now) && fence <= now + NEAR;
    return isFree ? { put: next } : 'taken';
  }
  if (next.epoch !== epoch)
    return { refusal: `next.epoch must be ${epoch} or ${epoch + 1}, not ${next.epoch}` };
  return verdict(next, isHolder ? undefined : 'expected.owner must be the owner itself to renew a lease');
}

/** Refuses to put a node id out of use for longer than the longest ttl. */
function ttlRefusal({ stored, next }: Swap, context: SwapContext): string | undefined {
  const { now, maxTtl = DAY, namespaceTtl = maxTtl, callerTtl = DAY } = context;
  // A window of a second is allowed with any ttl.
  const limit = now + Math.max(Math.min(maxTtl, namespaceTtl, callerTtl), NEAR);
  const highest = Math.max(limit, stored?.fence ?? 0);
  if (next.fence <= highest && next.expiresAt <= highest) return undefined;
  if (callerTtl < Math.min(maxTtl, namespaceTtl)) return `ttl must be ${callerTtl} at most ${BELOW_ADMIN}`;
  if (namespaceTtl < maxTtl)
    return `ttl must be ${namespaceTtl} at most in this namespace, whose first client set this limit`;
  return context.maxTtl === undefined
    ? `ttl must be ${DAY} at most`
    : `ttl must be ${maxTtl} at most on this store, which can forget`;
}

/** The way out for a token that needs a longer ttl. */
const BELOW_ADMIN =
  'for a token without the scope admin: lower the ttl, or start the server with a longer --ttl';

/** The label of a birth record without a lineage. */
const NO_LINEAGE = 'namespace';

/**
 * Checks the birth record of a store that tells its lineage. The store itself refuses another lineage than its own. In one lineage only the
 * longest ttl of the namespace grows. After a loss, the namespace begins when all windows that may be forgotten have ended.
 */
function foundingRefusal({ stored, next }: Swap, context: SwapContext): string | undefined {
  const { now, maxTtl, lineage, storeFloor = 0, callerTtl = DAY } = context;
  const { owner, epoch, fence } = next;
  if (owner === null || owner === stored?.owner) return 'the owner of record -1 must be a new one';
  const most = Math.max(callerTtl, maxTtl ?? 0, stored?.epoch ?? 0);
  if (epoch > most)
    return `next.epoch, the longest ttl of the namespace, must be at most ${most}, not ${epoch}${
      epoch > DAY ? '' : `, ${BELOW_ADMIN}`
    }`;
  if (stored?.label === lineage)
    return fence === stored?.fence && epoch > stored.epoch
      ? undefined
      : 'record -1 has the lineage of the store: only its epoch, the longest ttl, may grow';
  if (epoch < (stored?.epoch ?? 0)) return `next.epoch must be at least ${stored?.epoch}, not ${epoch}`;
  const isLost = maxTtl !== undefined || (stored !== undefined && stored.label !== NO_LINEAGE);
  const longest = Math.max(maxTtl ?? 0, epoch);
  const lowest = isLost ? now + longest : stored === undefined ? storeFloor : 0;
  if (fence < lowest)
    return `the namespace must begin at least ${lowest - now} ms from now, because this store may have forgotten leases`;
  const highest = Math.max(now + longest + birthSkew(context), storeFloor + longest);
  if (fence > highest) return `the namespace must begin at most ${highest - now} ms from now; lower maxSkew`;
  return undefined;
}

/** Checks a birth record. It is written without a date, then dated once: after every earlier window, and not too far ahead. */
function birthRefusal({ stored, next }: Swap, context: SwapContext): string | undefined {
  const { now, maxTtl, callerTtl = MAX_NAMESPACE_TTL } = context;
  if (maxTtl === undefined) return 'this store is durable, so a namespace has no record -1';
  if (stored !== undefined && stored.fence !== UNDATED)
    return 'a namespace begins once, and its record -1 already has a date';
  if (next.owner === null || (stored !== undefined && next.owner !== stored.owner))
    return 'the owner of record -1 cannot change';
  if (next.fence === UNDATED)
    return next.epoch === 0 ? undefined : 'record -1 without a date must have epoch 0';
  // The epoch of a dated record is the longest ttl of the namespace, or 0 if the client does not state one.
  const { epoch, fence } = next;
  const most = Math.max(maxTtl, Math.min(callerTtl, MAX_NAMESPACE_TTL));
  if (epoch !== 0 && (epoch < maxTtl || epoch > most))
    return `next.epoch, the longest ttl of the namespace, must be from ${maxTtl} to ${most}, not ${epoch}`;
  const longest = Math.max(maxTtl, epoch);
  if (fence < now + longest)
    return `the namespace must begin at least ${longest} ms from now, because this store can forget`;
  const skew = birthSkew(context);
  if (fence > now + longest + skew)
    return `the namespace must begin at most ${longest + skew} ms from now; lower maxSkew`;
  return undefined;
}

const birthSkew = ({ callerTtl }: SwapContext) =>
  callerTtl === undefined ? MAX_BIRTH_SKEW : USUAL_BIRTH_SKEW;
