import { requireSameLayout } from './namespace-layout.js';
import type { LeaseSettings } from './options.js';
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
import { read, swap } from './store-calls.js';

/** A page without node ids: the records of the namespace itself are enough. */
const NOTHING = { first: 0, count: 0 };

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
 */
export async function claim(
  settings: LeaseSettings,
  owner: string,
  candidate: Candidate,
  basis: ClaimBasis,
  hasRivals: boolean,
): Promise<Claimed | undefined> {
  const { now, birth, layout } = basis;
  const record = claimed(candidate, now, { ...settings, owner });
  if (!(await swap(settings, candidate.record, record))) return undefined;
  const node = { record, from: windowStart(candidate, now, settings.maxSkew) };
  const isLayoutOpen = settings.layout !== undefined && layout === undefined;
  // A store that can forget may have lost the namespace since the listing. Then the listing does not count.
  const seen = birth || (isLayoutOpen && hasRivals) ? await read(settings, NOTHING) : undefined;
  if (
    birth &&
    !sameRecord(
      birth,
      seen?.find(({ id }) => id === NAMESPACE_ID),
    )
  )
    return undefined;
  if (isLayoutOpen) await keepLayout(settings, node, seen && layoutOf(seen));
  return node;
}

/**
 * Writes the layout into the namespace once a node id is held, so that an acquisition that fails leaves no layout behind.
 *
 * @throws InvalidOptionError when somebody else has written another layout meanwhile; the node id is free again then
 */
async function keepLayout(
  settings: LeaseSettings,
  node: Claimed,
  remembered: string | undefined,
): Promise<void> {
  const given = settings.layout as string;
  let current = remembered;
  if (current === undefined && !(await swap(settings, undefined, layoutRecord(given))))
    current = layoutOf(await read(settings, NOTHING));
  try {
    if (current !== undefined) requireSameLayout(settings.namespace, current, given);
  } catch (error) {
    await freeNode(settings, node);
    throw error;
  }
}

/** Frees a node id that was acquired and never used. */
export async function freeNode(settings: LeaseSettings, { record, from }: Claimed): Promise<void> {
  await swap(settings, record, released(record, from, -1));
}
