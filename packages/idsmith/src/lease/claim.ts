import { InvalidOptionError } from '../errors.js';
import { requireSameLayout } from './namespace-layout.js';
import type { LeaseSettings } from './options.js';
import { NO_NODES } from './pages.js';
import { type LeaseRecord, sameRecord } from './port.js';
import {
  type Candidate,
  claimed,
  layoutOf,
  layoutRecord,
  NAMESPACE_ID,
  released,
  windowStart,
} from './protocol.js';
import { read, swap, swapWith } from './store-calls.js';

/** A node id that was claimed. */
export interface Claimed {
  readonly record: LeaseRecord;
  readonly from: number;
}

/** The view of a namespace that a claim is made from. */
export interface ClaimBasis {
  /** The store's time, ms. */
  readonly now: number;
  readonly birth: LeaseRecord | undefined;
  /** The layout that the namespace remembers. */
  readonly layout: string | undefined;
}

/**
 * Claims a node id, and makes the claim count: the namespace is still the one of the basis, and has the layout of the claim.
 *
 * @param hasRivals true if others claim node ids at the same time
 * @returns `undefined` if somebody else was faster, or the namespace was lost
 * @throws InvalidOptionError when the namespace has another layout; the node id is free again then
 * @throws StoreError when the store fails; a node id that was claimed expires
 */
export async function claim(
  settings: LeaseSettings,
  owner: string,
  candidate: Candidate,
  basis: ClaimBasis,
  hasRivals: boolean,
): Promise<Claimed | undefined> {
  const { now, birth } = basis;
  const record = claimed(candidate, now, { ...settings, owner });
  const { claimLease } = settings.store;
  const isAtomic = birth !== undefined && claimLease !== undefined;
  const isDone = isAtomic
    ? await swapWith(settings, candidate.record, record, birth)
    : await swap(settings, candidate.record, record);
  if (!isDone) return undefined;
  const node = { record, from: windowStart(candidate, now, settings.maxSkew) };
  try {
    return (await doesCount(settings, basis, isAtomic, hasRivals)) ? node : undefined;
  } catch (error) {
    // After a failure of the store, the node id expires and keeps its fence. A copy of this process, made while the answer was
    // on its way, may have got the answer, and may be minting. All copies get to know another layout.
    if (error instanceof InvalidOptionError) await freeNode(settings, node).catch(() => undefined);
    throw error;
  }
}

/**
 * Checks that the namespace is still the one of the basis, and that it has the layout of the claim.
 *
 * @param isAtomic true if the claim has compared the birth record itself
 */
async function doesCount(
  settings: LeaseSettings,
  { birth, layout }: ClaimBasis,
  isAtomic: boolean,
  hasRivals: boolean,
): Promise<boolean> {
  const isLayoutOpen = settings.layout !== undefined && layout === undefined;
  // A store that can forget may have lost the namespace since the listing. Then the listing does not count.
  const isUnsure = birth !== undefined && !isAtomic;
  const seen = isUnsure || (isLayoutOpen && hasRivals) ? await read(settings, NO_NODES) : undefined;
  if (
    isUnsure &&
    !sameRecord(
      birth,
      seen?.find(({ id }) => id === NAMESPACE_ID),
    )
  )
    return false;
  if (isLayoutOpen) await keepLayout(settings, seen && layoutOf(seen));
  return true;
}

/**
 * Writes the layout into the namespace once a node id is held, so that an acquisition that fails leaves no layout behind.
 *
 * @throws InvalidOptionError when somebody else has written another layout meanwhile
 */
async function keepLayout(settings: LeaseSettings, remembered: string | undefined): Promise<void> {
  const given = settings.layout as string;
  let current = remembered;
  if (current === undefined && !(await swap(settings, undefined, layoutRecord(given))))
    current = layoutOf(await read(settings, NO_NODES));
  if (current !== undefined) requireSameLayout(settings.namespace, current, given);
}

/** Frees a node id that was acquired and never used. */
export async function freeNode(settings: LeaseSettings, { record, from }: Claimed): Promise<void> {
  await swap(settings, record, released(record, from, -1));
}
