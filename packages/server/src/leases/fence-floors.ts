import type { LeaseRecord } from 'idsmith';

/** The most node ids that are remembered. The release of a forgotten one leaves a higher fence. */
const MAX_KNOWN = 10_000;

interface Known {
  /** The record as this server wrote it last. */
  readonly record: LeaseRecord;
  /** The fence before the holder took the node id. Others may have minted up to there. */
  readonly floor: number;
}

/** Remembers the lowest fence that each holder may leave on release: the fence before the holder took the node id. */
export class FenceFloors {
  readonly #known = new Map<string, Known>();

  /** The floor of a record, if this server has written every change since the holder took the node id. */
  of(namespace: string, record: LeaseRecord): number | undefined {
    const known = this.#known.get(keyOf(namespace, record));
    return known !== undefined && isSame(known.record, record) ? known.floor : undefined;
  }

  /** Records that `next` has replaced `stored`. */
  record(namespace: string, stored: LeaseRecord | undefined, next: LeaseRecord): void {
    const isRenewal = stored?.epoch === next.epoch;
    const floor = stored !== undefined && isRenewal ? this.of(namespace, stored) : (stored?.fence ?? 0);
    const key = keyOf(namespace, next);
    this.#known.delete(key);
    if (next.owner === null || floor === undefined) return;
    this.#known.set(key, { record: next, floor });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN) this.#known.delete(oldest as string);
  }
}

const keyOf = (namespace: string, { id }: LeaseRecord) => `${id} ${namespace}`;

/** Compares two records as a store does: all fields but the label. */
export function isSame(a: LeaseRecord, b: LeaseRecord): boolean {
  return (['id', 'owner', 'epoch', 'fence', 'expiresAt'] as const).every((field) => a[field] === b[field]);
}
