import type { LeaseRecord } from 'idsmith';

/** The share of a look that goes to the namespaces that were used last. The rest goes to those not looked at for longest. */
const USED_SHARE = 0.8;

interface Seen {
  /** The latest end of a window, Unix ms: a namespace in use has one that is near. */
  readonly usedAt: number;
  /** The number of the look. */
  readonly look: number;
}

/** Which namespaces to look at where there are too many: the server's own, those in use, and the others in turn. */
export class NamespaceUse {
  readonly #own: readonly string[];
  #seen = new Map<string, Seen>();
  #look = 0;

  /** @param own the namespaces that this server mints in */
  constructor(own: readonly string[]) {
    this.#own = own;
  }

  /** Takes in the records of a namespace. */
  saw(namespace: string, records: readonly LeaseRecord[]): void {
    const usedAt = records.reduce((latest, { id, fence }) => (id < 0 ? latest : Math.max(latest, fence)), 0);
    this.#seen.set(namespace, { usedAt, look: this.#look });
  }

  /** At most `most` of these names, in their order. */
  pick(names: readonly string[], most: number): string[] {
    this.#look++;
    if (names.length <= most) return [...names];
    const known = new Map(names.flatMap((name) => entryOf(name, this.#seen.get(name))));
    this.#seen = known;
    const used = names.filter((name) => (known.get(name)?.usedAt ?? 0) > 0);
    const byUse = used.sort((a, b) => (known.get(b)?.usedAt ?? 0) - (known.get(a)?.usedAt ?? 0));
    const byTurn = names.toSorted((a, b) => (known.get(a)?.look ?? 0) - (known.get(b)?.look ?? 0));
    const picked = new Set(this.#own.filter((name) => names.includes(name)));
    for (const name of byUse.slice(0, USED_SHARE * most)) picked.add(name);
    for (const name of byTurn) {
      if (picked.size >= most) break;
      picked.add(name);
    }
    return names.filter((name) => picked.has(name));
  }
}

const entryOf = (name: string, seen: Seen | undefined): [string, Seen][] => (seen ? [[name, seen]] : []);
