import type { LeaseRecord } from 'idsmith';

/** The most node ids to remember. Of those that are forgotten, a release leaves a higher fence. */
const MOST = 10_000;

interface Known {
  /** The record as this server last wrote it. */
  readonly record: LeaseRecord;
  /** The fence before its holder came: others may have minted up to there. */
  readonly floor: number;
}

/** Remembers how low a holder may leave the fence of its node id: where the fence was before. */
export class Floors {
  readonly #known = new Map<string, Known>();

  /** The floor of a record, if this server has written every change of it since its holder came. */
  of(namespace: string, record: LeaseRecord): number | undefined {
    const known = this.#known.get(keyOf(namespace, record));
    return known !== undefined && isSame(known.record, record) ? known.floor : undefined;
  }

  /** Notes that `next` has taken the place of `stored`. */
  note(namespace: string, stored: LeaseRecord | undefined, next: LeaseRecord): void {
    const isRenewal = stored?.epoch === next.epoch;
    const floor = stored !== undefined && isRenewal ? this.of(namespace, stored) : (stored?.fence ?? 0);
    const key = keyOf(namespace, next);
    this.#known.delete(key);
    if (next.owner === null || floor === undefined) return;
    this.#known.set(key, { record: next, floor });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST) this.#known.delete(oldest as string);
  }
}

const keyOf = (namespace: string, { id }: LeaseRecord) => `${id} ${namespace}`;

/** Whether two records are the same to a store: all but the label. */
export function isSame(a: LeaseRecord, b: LeaseRecord): boolean {
  return (['id', 'owner', 'epoch', 'fence', 'expiresAt'] as const).every((field) => a[field] === b[field]);
}
