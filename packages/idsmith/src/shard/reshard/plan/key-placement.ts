import { stemOf } from '../../keys/codec.js';
import type { ReshardContext } from '../context.js';
import { type RedisKey, redisKeyText } from '../redis-key.js';
import { isReservedKey } from '../reserved-keys.js';

/** The decision about a key on an old node: move it to a node, leave it because it stays, or skip it. */
export type Placement = { readonly to: string } | 'stays' | 'skipped';

/** The keys of one scan of a node, sorted by their placement. */
export interface SortedKeys {
  /** The keys to move, by the address of the new owner. */
  readonly leaving: ReadonlyMap<string, RedisKey[]>;
  readonly leavingCount: number;
  readonly staying: number;
  readonly skipped: number;
}

/** Decides which keys move, and to which node. */
export class KeyPlacement {
  readonly #context: ReshardContext;
  readonly #allKeys: boolean;

  /** @param allKeys true to move keys, too, that do not have the form of a map's keys */
  constructor(context: ReshardContext, allKeys: boolean) {
    this.#context = context;
    this.#allKeys = allKeys;
  }

  /** The placement of a key that was found on the old node `node`. */
  of(key: RedisKey, node: string): Placement {
    const stem = this.stemOf(key);
    if (stem === undefined) return 'skipped';
    const { from, to } = this.#context;
    const target = to.ownerOf(stem).address;
    if (target === node) return 'stays';
    // Neither map puts a key on a node that owns it in neither map.
    return from.ownerOf(stem).address === node ? { to: target } : 'skipped';
  }

  /** The text that decides the owner of a key; `undefined` if the key is not moved. */
  stemOf(key: RedisKey): string | undefined {
    if (this.isReserved(key)) return undefined;
    const stem = stemOf(redisKeyText(key));
    if (isMapKey(stem)) return stem;
    // The ring takes text only. A key that is not text has no owner.
    return this.#allKeys && typeof key === 'string' ? stem : undefined;
  }

  /** Tells whether a key is the sequence of the node, or a key of the resharding itself. */
  isReserved(key: RedisKey): boolean {
    return key === this.#context.from.seqname || (typeof key === 'string' && isReservedKey(key));
  }

  /** Sorts the keys that were found on the old node `node`. */
  sort(keys: readonly RedisKey[], node: string): SortedKeys {
    const leaving = new Map<string, RedisKey[]>();
    let [leavingCount, staying, skipped] = [0, 0, 0];
    for (const key of keys) {
      const placement = this.of(key, node);
      if (placement === 'stays') staying++;
      else if (placement === 'skipped') skipped += this.isReserved(key) ? 0 : 1;
      else {
        const list = leaving.get(placement.to) ?? [];
        if (list.length === 0) leaving.set(placement.to, list);
        list.push(key);
        leavingCount++;
      }
    }
    return { leaving, leavingCount, staying, skipped };
  }
}

/** Tells whether a stem has the form of a map's keys. */
function isMapKey(stem: string): boolean {
  return /^[0-9A-Za-z]{5,}$/.test(stem);
}
