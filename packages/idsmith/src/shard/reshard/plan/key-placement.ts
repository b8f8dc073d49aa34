import { stemOf } from '../../keys/codec.js';
import type { Parties } from '../context.js';
import type { Wire } from '../node-connection.js';
import { type Name, nameOf, textOf } from '../redis-key.js';
import { isOurs } from '../reserved-keys.js';

/** How many keys one SCAN looks at, about. */
const COUNT = 1000;

/** Where a key that was found is to go: to a node, nowhere, or it is none of ours. */
export type Place = { readonly to: string } | 'stays' | 'foreign';

/** Keys of a node as a scan finds them, sorted by where they are to go. */
export interface Found {
  /** By the name of the new owner. */
  readonly leaving: ReadonlyMap<string, Name[]>;
  readonly leavingCount: number;
  readonly stays: number;
  readonly foreign: number;
}

/** Decides about keys of the nodes of a resharding. */
export class Places {
  readonly #parties: Parties;
  readonly #allKeys: boolean;

  /** @param allKeys whether also keys are moved that are none of the map's making */
  constructor(parties: Parties, allKeys: boolean) {
    this.#parties = parties;
    this.#allKeys = allKeys;
  }

  /** What to do with a key that was found on an old node. */
  of(key: Name, node: string): Place {
    const stem = this.stemOf(key);
    if (stem === undefined) return 'foreign';
    const { from, to } = this.#parties;
    const target = to.ownerOf(stem).name;
    if (target === node) return 'stays';
    // On a node that owns it in neither map it was not put by either.
    return from.ownerOf(stem).name === node ? { to: target } : 'foreign';
  }

  /** What places the key; `undefined` if it is not to be moved. */
  stemOf(key: Name): string | undefined {
    if (this.isOwn(key)) return undefined;
    const stem = stemOf(textOf(key));
    if (isKey(stem)) return stem;
    // A name that is no text has no place: the ring takes text.
    return this.#allKeys && typeof key === 'string' ? stem : undefined;
  }

  /** Whether it is the sequence of the node, or of what resharding keeps there. */
  isOwn(key: Name): boolean {
    return key === this.#parties.from.seqname || (typeof key === 'string' && isOurs(key));
  }

  sort(keys: readonly Name[], node: string): Found {
    const leaving = new Map<string, Name[]>();
    let [leavingCount, stays, foreign] = [0, 0, 0];
    for (const key of keys) {
      const place = this.of(key, node);
      if (place === 'stays') stays++;
      else if (place === 'foreign') foreign += this.isOwn(key) ? 0 : 1;
      else {
        const list = leaving.get(place.to) ?? [];
        if (list.length === 0) leaving.set(place.to, list);
        list.push(key);
        leavingCount++;
      }
    }
    return { leaving, leavingCount, stays, foreign };
  }
}

function isKey(stem: string): boolean {
  return /^[0-9A-Za-z]{5,}$/.test(stem);
}

/** All keys of a node, some at a time, each at least once if it is there all the while. Never holds more than some. */
export async function* scan(wire: Wire): AsyncGenerator<Name[]> {
  let cursor = '0';
  do {
    const reply = await wire.command('scanning', 'SCAN', cursor, 'COUNT', COUNT);
    const [next, keys] = reply as [unknown, Uint8Array[]];
    cursor = String(next);
    yield keys.map(nameOf);
  } while (cursor !== '0');
}
