import { readKey } from 'idsmith/internal';
import { stemOf } from '../keys/codec.js';
import { isTagged } from '../keys/slots.js';
import { askNodes, requireAnswers } from '../mint/node-sequence.js';
import type { ReshardContext } from './context.js';
import type { KeySettings } from './options.js';
import { isReservedKey, type RedisKey, redisKeyText } from './redis-keys.js';

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

/** A UUID. The text before its first hyphen would pass for a key. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The reason why a key does not belong to the map. */
export type NotOurs = { readonly unknownType: number } | 'foreign';

/**
 * Tells keys of the two maps from keys of other programs. A key belongs to a map if it parses exactly, its time lies between
 * the epoch and the latest time that a node may have minted, and its type is known.
 */
export class KeyRule {
  readonly #epoch: number;
  /** The types in `keyTypes` of either map, and those that the user lists. */
  readonly #types: ReadonlySet<number>;
  readonly #settings: KeySettings;
  /** The latest time of a key when the rule was made, ms since the epoch, and the moment at which it was made. */
  readonly #latest: number;
  readonly #madeAt = performance.now();

  /** @param latest the latest time that a key may carry now, ms since the epoch */
  constructor({ from, to }: ReshardContext, settings: KeySettings, latest: number) {
    this.#epoch = from.sequences[0]?.nodeSet.epoch ?? 0;
    this.#types = new Set([
      ...Object.values(from.keyTypes),
      ...Object.values(to.keyTypes),
      ...settings.types,
    ]);
    this.#settings = settings;
    this.#latest = latest;
  }

  /** Makes the rule with the clocks of all nodes, because they and not the clock of this process have minted the keys. */
  static async make(context: ReshardContext, settings: KeySettings): Promise<KeyRule> {
    const sequences = [...context.from.sequences, ...context.to.sequences].filter(
      ({ node }) => !context.gone.has(node.address),
    );
    const answers = requireAnswers(await askNodes(sequences, (sequence) => sequence.readStatus()));
    const times = answers.map(([{ nodeSet }, { now, high }]) =>
      Math.max(high, now + nodeSet.lead + nodeSet.skew),
    );
    return new KeyRule(context, settings, Math.max(...times));
  }

  /**
   * Decides about a Redis key.
   *
   * @param stem the text before the first hyphen
   * @param isText false if the name of the key is not UTF-8. The ring takes text only, so such a key needs the form of a key
   * @returns `undefined` if the key belongs to the map
   */
  refusal(name: string, stem: string, isText: boolean): NotOurs | undefined {
    const { allKeys, pattern } = this.#settings;
    if (isText && (allKeys || pattern?.test(name))) return undefined;
    if (!/^[0-9A-Za-z]{5,}$/.test(stem) || UUID.test(name)) return 'foreign';
    // Times of three digits or more have no zeros in front. Shorter ones come from fixedKey, which fills up to two digits.
    if (stem.length > 6 && stem.startsWith('0')) return 'foreign';
    // Eight digits of time are enough for 6,900 years.
    if (stem.length > 12) return 'foreign';
    const { ms, type } = readKey(stem, this.#epoch);
    if (ms > this.#latest + (performance.now() - this.#madeAt)) return 'foreign';
    return this.#types.has(type) ? undefined : { unknownType: type };
  }
}

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
