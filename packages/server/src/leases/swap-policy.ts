import type { LeaseRecord } from 'idsmith';

// Which swaps of lease records a token may make. Pure: the record that the store has, the one to put in its place, and the time
// come in as arguments.
//
// The holder of a record, who presents its owner, may renew and release it. Everybody may take a record that is free or has
// expired, one epoch later and never below its fence. Nothing else is let through, so that a token cannot end or shorten the
// window of somebody else.

/** The ids of the records that belong to a namespace itself: the date of its birth, and its layout. */
const BIRTH_ID = -1;
const LAYOUT_ID = -2;

/** The fence of a birth record that has no date yet. */
const UNDATED = Number.MAX_SAFE_INTEGER;

/** A fence this little ahead, ms, is not waited for by whoever takes a node id. */
const SOON = 1000;

/** The longest ttl that a lease may have, ms. */
const DAY = 86_400_000;

/** The most, ms, by which a new namespace may wait longer than its longest ttl. */
const MOST_SKEW = 600_000;

/** A swap that somebody asks for. */
export interface Swap {
  /** The record that the store has; `undefined` if it has none. */
  readonly stored: LeaseRecord | undefined;
  readonly next: LeaseRecord;
  /** Whether the caller knows the owner of the stored record, and so is its holder. */
  readonly isHolder: boolean;
}

/** What a swap is judged by. */
export interface Terms {
  /** The store's time, read after the stored record was. */
  readonly now: number;
  /** The longest ttl of a store that can forget, ms; `undefined` for a durable store. */
  readonly maxTtl: number | undefined;
  /** How low the holder may leave the fence, if that is known. */
  readonly floor: number | undefined;
}

/** The record to put; or that it cannot be had at present; or why nobody may put it. */
export type Verdict = { readonly put: LeaseRecord } | 'taken' | { readonly refusal: string };

export function judge(swap: Swap, terms: Terms): Verdict {
  const { stored, next } = swap;
  if (next.id === BIRTH_ID) return verdict(next, birthRefusal(swap, terms));
  if (next.id === LAYOUT_ID)
    return verdict(next, stored && 'the layout of a namespace is written once and never changes');
  const tooFar = farRefusal(swap, terms);
  if (tooFar !== undefined) return { refusal: tooFar };
  if (stored === undefined)
    return verdict(next, next.epoch > 1 ? `next.epoch must be 1 at first, not ${next.epoch}` : undefined);
  return next.owner === null ? release(swap, terms) : hold(swap, terms);
}

const verdict = (put: LeaseRecord, refusal: string | undefined): Verdict =>
  refusal === undefined ? { put } : { refusal };

/** A holder leaves. The fence may come down to where it was before, or else to about now, which nobody else has passed. */
function release({ stored, next, isHolder }: Swap, { now, floor }: Terms): Verdict {
  const { epoch, fence } = stored as LeaseRecord;
  if (!isHolder) return { refusal: 'expected.owner must be the true owner of a lease that is released' };
  if (next.epoch !== epoch) return { refusal: `next.epoch must be ${epoch}, not ${next.epoch}` };
  if (next.fence > fence) return { refusal: `next.fence must be ${fence} at most, not ${next.fence}` };
  const lowest = Math.min(fence, floor ?? now + SOON);
  return { put: { ...next, fence: Math.max(next.fence, lowest), expiresAt: 0 } };
}

/** A holder renews, or somebody takes the node id. */
function hold({ stored, next, isHolder }: Swap, { now }: Terms): Verdict {
  const { owner, epoch, fence, expiresAt } = stored as LeaseRecord;
  if (next.fence < fence)
    return {
      refusal: `next.fence must be ${fence} or more, unless the lease is released, not ${next.fence}`,
    };
  if (next.epoch === epoch + 1) {
    const isFree = (owner === null || expiresAt <= now) && fence <= now + SOON;
    return isFree ? { put: next } : 'taken';
  }
  if (next.epoch !== epoch)
    return { refusal: `next.epoch must be ${epoch} or ${epoch + 1}, not ${next.epoch}` };
  return verdict(
    next,
    isHolder ? undefined : 'expected.owner must be the true owner of a lease that is renewed',
  );
}

/** A node id is not put out of use for longer than the longest ttl. */
function farRefusal({ stored, next }: Swap, { now, maxTtl }: Terms): string | undefined {
  // A window of a second is given whatever the ttl.
  const limit = now + (maxTtl === undefined ? DAY : Math.max(maxTtl, SOON));
  const isFar =
    next.fence > Math.max(limit, stored?.fence ?? 0) || next.expiresAt > Math.max(limit, stored?.fence ?? 0);
  if (!isFar) return undefined;
  return maxTtl === undefined
    ? `ttl must be ${DAY} at most`
    : `ttl must be ${maxTtl} at most on this store, which can forget`;
}

/** The birth record is put without a date, and dated once: late enough for all who held something before, and not for ever. */
function birthRefusal({ stored, next }: Swap, { now, maxTtl }: Terms): string | undefined {
  if (maxTtl === undefined) return 'a namespace has no record -1 on this store, which is durable';
  if (stored !== undefined && stored.fence !== UNDATED)
    return 'a namespace begins once: its record -1 has its date';
  if (next.owner === null || (stored !== undefined && next.owner !== stored.owner))
    return 'the owner of record -1 must stay as it was put';
  if (next.fence === UNDATED) return next.epoch === 0 ? undefined : 'record -1 without a date has epoch 0';
  // The epoch of a dated record is the longest ttl of the namespace, 0 where its client does not say.
  const { epoch, fence } = next;
  if (epoch !== 0 && (epoch < maxTtl || epoch > DAY))
    return `next.epoch, the longest ttl of the namespace, must be from ${maxTtl} to ${DAY}, not ${epoch}`;
  const longest = Math.max(maxTtl, epoch);
  if (fence < now + longest)
    return `the namespace must begin at least ${longest} ms from now on this store, which can forget`;
  if (fence > now + longest + MOST_SKEW)
    return `the namespace must begin at most ${longest + MOST_SKEW} ms from now; lower maxSkew`;
  return undefined;
}
