import type { LeaseRecord, Store } from 'idsmith';
import { NamespaceUse } from '../ops/namespace-use.js';
import { RegularLook } from './regular-look.js';

/** The most terms that are kept, of all namespaces together. The ones that ended first go first. */
const MAX_TERMS = 5000;

/** The shortest pause between two looks at the leases, ms. */
const PAUSE = 10_000;

/** The most namespaces, and the most records of one, that are looked at. */
const MAX_NAMESPACES = 200;
const MAX_RECORDS = 5000;

/** The largest difference between the clocks of holders and of this server that is allowed for, ms. */
const SKEW = 10_000;

/** A node id in the hands of one holder. */
export interface Term {
  readonly node: number;
  /** Grows by one with each holder of the node id. */
  readonly term: number;
  /** Host and process of the holder. */
  readonly label: string;
  /** The time at which this server first saw the holder, Unix ms. */
  readonly from: number;
  /** True if the holder came while this server was looking, so that `from` is right to some seconds. */
  readonly isFromExact: boolean;
  /** The last time at which this server looked and did not see the holder, Unix ms; 0 if the holder was there at the first look. */
  readonly after: number;
  /** The time at which the holder was last seen, Unix ms. */
  to: number;
  /** True while the node id is held. */
  isHeld: boolean;
  /** The end of its windows so far, Unix ms: no id of this holder has this time or a later one. */
  fence: number;
}

/** The terms of a namespace as they are in a file. */
interface SavedTerms {
  readonly namespace: string;
  readonly terms: readonly Term[];
  /** The time of the last look, Unix ms. */
  readonly looked: number;
}

/** A holder of a node id at some time. */
export interface Holder {
  readonly term: Term;
  /** False if this server may have missed the true holder. */
  readonly isCertain: boolean;
}

/** Who held which node id, and when: seen by looking at the leases of the store every few seconds. */
export class LeaseWatch {
  readonly #store: Store;
  readonly #use: NamespaceUse;
  readonly #terms = new Map<string, Term[]>();
  #count = 0;
  readonly #looking = new RegularLook(() => this.#look(), PAUSE);
  /** The time of the last look at each namespace. */
  readonly #looked = new Map<string, number>();
  /** The namespaces of a file that this server has not looked at yet. */
  readonly #resumed = new Set<string>();

  constructor(store: Store, use = new NamespaceUse([])) {
    this.#store = store;
    this.#use = use;
  }

  start(): void {
    if (this.#store.namespaces === undefined) return;
    void this.#looking.start();
  }

  close(): void {
    this.#looking.close();
  }

  save(): SavedTerms[] {
    return [...this.#terms].map(([namespace, terms]) => ({
      namespace,
      terms,
      looked: this.#looked.get(namespace) ?? 0,
    }));
  }

  /** Takes over what another run has saved. @throws TypeError unless `saved` comes from {@link save} */
  load(saved: readonly SavedTerms[]): void {
    for (const { namespace, terms, looked } of saved) {
      this.#terms.set(
        namespace,
        terms.map((term) => ({ ...term })),
      );
      this.#count += terms.length;
      this.#looked.set(namespace, looked);
      this.#resumed.add(namespace);
    }
    this.#forget();
  }

  /** The terms of a namespace, the latest first. */
  of(namespace: string, node?: number): Term[] {
    const terms = this.#terms.get(namespace) ?? [];
    return terms.filter((term) => node === undefined || term.node === node).toReversed();
  }

  /**
   * The holder of a node id at a time, Unix ms. The windows of holders follow each other, so it is the first one whose windows ended later; the
   * latest one if it still holds the node id. `undefined` if nobody is known who held it then.
   */
  holderAt(namespace: string, node: number, time: number): Holder | undefined {
    const terms = (this.#terms.get(namespace) ?? []).filter((term) => term.node === node);
    const i = terms.findIndex(({ fence, isHeld }) => time < fence || isHeld);
    const term = terms[i];
    if (term === undefined) return undefined;
    if (time >= term.from) return { term, isCertain: true };
    // The holder was not there yet.
    if (time < term.after - SKEW) return undefined;
    // Terms count the holders: one that was never seen leaves a gap. Nobody knows of the time before the first look.
    const isCertain = term.isFromExact && term.term === (terms[i - 1]?.term ?? 0) + 1;
    return { term, isCertain };
  }

  async #look(): Promise<void> {
    const names = (await this.#store.namespaces?.()) ?? [];
    for (const namespace of this.#use.pick(names, MAX_NAMESPACES)) {
      const records = await this.#store.listLeases(namespace);
      this.#use.saw(namespace, records);
      this.saw(namespace, records, Date.now());
    }
  }

  /** Takes in the leases of a namespace. */
  saw(namespace: string, records: readonly LeaseRecord[], now: number): void {
    if (records.length > MAX_RECORDS) return;
    const terms = this.#terms.get(namespace) ?? [];
    this.#terms.set(namespace, terms);
    const last = new Map(terms.map((term) => [term.node, term]));
    const after = this.#looked.get(namespace) ?? 0;
    // While no server ran, nobody looked.
    const isExact = after > 0 && !this.#resumed.delete(namespace);
    for (const { id, owner, epoch, fence, label, expiresAt } of records) {
      if (id < 0) continue;
      const isHeld = owner !== null && expiresAt > now;
      const known = last.get(id);
      if (known?.term === epoch) {
        if (isHeld) known.to = now;
        known.isHeld = isHeld;
        known.fence = fence;
      } else if (owner !== null) {
        if (known !== undefined) known.isHeld = false;
        const from = { from: now, isFromExact: isExact, after };
        terms.push({ node: id, term: epoch, label, ...from, to: now, isHeld, fence });
        this.#count++;
      }
    }
    this.#looked.set(namespace, now);
    this.#forget();
  }

  #forget(): void {
    while (this.#count > MAX_TERMS) {
      let longest: Term[] | undefined;
      for (const terms of this.#terms.values()) if (terms.length > (longest?.length ?? 0)) longest = terms;
      const ended = longest?.findIndex(({ isHeld }) => !isHeld) ?? -1;
      longest?.splice(Math.max(0, ended), 1);
      this.#count--;
    }
  }
}
