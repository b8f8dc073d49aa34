import { readKey } from '../../keys/codec.js';
import { askNodes, requireAnswers } from '../../mint/ask-nodes.js';
import type { ReshardContext } from '../context.js';
import type { KeySettings } from './key-settings.js';

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
