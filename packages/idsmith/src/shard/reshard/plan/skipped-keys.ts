import { type RedisKey, redisKeyText } from '../redis-key.js';
import type { SkippedKey } from './key-placement.js';

/** The number of names that are listed. */
const LISTED = 20;

/** The keys that a resharding leaves alone, counted and partly listed. */
export interface SkippedKeys {
  /** The number of keys that are left alone: not keys of the map, or on a node that owns them in neither map. */
  readonly skipped: number;
  /** The first of their names. */
  readonly skippedKeys: readonly string[];
  /** The types of keys that look like keys of the map, but have a type that is not in `keyTypes`, with the number of keys. */
  readonly unknownTypes: Readonly<Record<number, number>>;
}

/** Counts keys that are left alone. */
export class SkippedKeyCounter {
  #count = 0;
  readonly #names: RedisKey[] = [];
  readonly #types = new Map<number, number>();

  add(keys: readonly SkippedKey[]): void {
    this.#count += keys.length;
    for (const { key, unknownType } of keys) {
      if (this.#names.length < LISTED) this.#names.push(key);
      if (unknownType !== undefined) this.#types.set(unknownType, (this.#types.get(unknownType) ?? 0) + 1);
    }
  }

  /** The keys that were counted. Types are listed from the most frequent one on. */
  totals(): SkippedKeys {
    const types = [...this.#types].sort((a, b) => b[1] - a[1]).slice(0, LISTED);
    return {
      skipped: this.#count,
      skippedKeys: this.#names.map(redisKeyText),
      unknownTypes: Object.fromEntries(types),
    };
  }
}
