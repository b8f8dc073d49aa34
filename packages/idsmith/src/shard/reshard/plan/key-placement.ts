import { isTagged } from '../../cluster/tagged-name.js';
import { stemOf } from '../../keys/codec.js';
import type { ReshardContext } from '../context.js';
import { type RedisKey, redisKeyText } from '../redis-key.js';
import { isReservedKey } from '../reserved-keys.js';
import type { KeyRule, NotOurs } from './key-rule.js';

/** The decision about a key on an old node: move it to a node, leave it because it stays, or skip it. */
export type Placement = { readonly to: string } | 'stays' | 'skipped';

/** The keys of one scan of a node, sorted by their placement. */
export interface SortedKeys {
  /** The keys to move, by the address of the new owner. */
  readonly leaving: ReadonlyMap<string, RedisKey[]>;
  readonly leavingCount: number;
  readonly staying: number;
  /** The keys that are left alone. */
  readonly skipped: readonly SkippedKey[];
}

/** A key that is left alone. */
export interface SkippedKey {
  readonly key: RedisKey;
  /** The type of a key that looks like a key of the map but for its type. */
  readonly unknownType?: number;
}

/** Decides which keys move, and to which node. */
export class KeyPlacement {
  readonly #context: ReshardContext;
  readonly #rule: KeyRule;

  constructor(context: ReshardContext, rule: KeyRule) {
    this.#context = context;
    this.#rule = rule;
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
    const stem = stemOf(redisKeyText(key));
    return this.isReserved(key) || this.#isUntranslatable(key) || this.#refusal(key, stem) !== undefined
      ? undefined
      : stem;
  }

  /** Tells whether the name would stand for another key in a Redis Cluster. */
  #isUntranslatable(key: RedisKey): boolean {
    const { from, to } = this.#context;
    return (from.isCluster || to.isCluster) && isTagged(redisKeyText(key));
  }

  #refusal(key: RedisKey, stem: string): NotOurs | undefined {
    return this.#rule.refusal(redisKeyText(key), stem, typeof key === 'string');
  }

  /** Tells whether a key is the sequence of the node, or a key of the resharding itself. */
  isReserved(key: RedisKey): boolean {
    return key === this.#context.from.seqname || (typeof key === 'string' && isReservedKey(key));
  }

  /** Sorts the keys that were found on the old node `node`. */
  sort(keys: readonly RedisKey[], node: string): SortedKeys {
    const leaving = new Map<string, RedisKey[]>();
    const skipped: SkippedKey[] = [];
    let [leavingCount, staying] = [0, 0];
    for (const key of keys) {
      const placement = this.of(key, node);
      if (placement === 'stays') staying++;
      else if (placement === 'skipped') {
        if (!this.isReserved(key)) skipped.push(this.#skippedKey(key));
      } else {
        const list = leaving.get(placement.to) ?? [];
        if (list.length === 0) leaving.set(placement.to, list);
        list.push(key);
        leavingCount++;
      }
    }
    return { leaving, leavingCount, staying, skipped };
  }

  #skippedKey(key: RedisKey): SkippedKey {
    const refusal = this.#refusal(key, stemOf(redisKeyText(key)));
    return typeof refusal === 'object' ? { key, ...refusal } : { key };
  }
}
