import { type LeaseRecord, layouts, type Store } from 'idsmith';
import { summarise } from 'idsmith/internal';
import { RequestProblem } from '../http/problem.js';
import { inTime, PATIENCE } from '../ops/in-time.js';
import { NamespaceUse } from '../ops/namespace-use.js';

/** A namespace of the store, with its node ids counted. */
export interface NamespaceInfo {
  readonly namespace: string;
  /** The name of the layout, or its fingerprint if the library has no name for it; `null` without a layout. */
  readonly layout: string | null;
  /** The number of node ids; `null` where nobody knows: the namespace remembers no layout. */
  readonly size: number | null;
  readonly held: number;
  readonly expired: number;
  /** The node ids that anybody has ever held. */
  readonly used: number;
}

/** The namespaces of this server's UUIDs, whose leases name no layout. */
const UUID_NAMESPACES: Readonly<Record<string, number>> = { locality: 2 ** 16, uuid7: 2 ** 16 };

/** The time for which a listing is kept, ms: each listing reads every record of every namespace. */
const LIFETIME = 2000;

/** The most namespaces that are counted: those in use come first. */
const MAX_NAMESPACES = 500;

/** The namespaces of a store. Anybody with a token may ask, so the store is asked once in two seconds at most. */
export class Namespaces {
  readonly #store: Store;
  readonly #use: NamespaceUse;
  readonly #onRead: (namespace: string, records: readonly LeaseRecord[]) => void;
  #listed: { readonly at: number; readonly found: Promise<NamespaceInfo[]> } | undefined;

  #last: readonly NamespaceInfo[] = [];

  /** @param onRead hears of every namespace that was read */
  constructor(
    store: Store,
    use = new NamespaceUse([]),
    onRead: (namespace: string, records: readonly LeaseRecord[]) => void = () => {},
  ) {
    this.#store = store;
    this.#use = use;
    this.#onRead = onRead;
  }

  /** @throws RequestProblem 501 if the store cannot list its namespaces */
  list(): Promise<NamespaceInfo[]> {
    if (this.#listed !== undefined && performance.now() - this.#listed.at < LIFETIME)
      return this.#listed.found;
    const found = this.#read();
    this.#listed = { at: performance.now(), found };
    found.catch(() => {
      this.#listed = undefined;
    });
    return found;
  }

  /** The namespaces for metrics: those of the last listing if the store is slow, and none if it cannot list them. */
  async listInTime(): Promise<readonly NamespaceInfo[]> {
    return (await inTime(this.list(), PATIENCE).catch(() => undefined)) ?? this.#last;
  }

  async #read(): Promise<NamespaceInfo[]> {
    const store = this.#store;
    if (store.namespaces === undefined)
      throw new RequestProblem(501, 'NOT_CONFIGURED', 'the store of this server cannot list its namespaces');
    const names = this.#use.pick(await store.namespaces(), MAX_NAMESPACES);
    const infos: NamespaceInfo[] = [];
    for (const namespace of names) {
      const records = await store.listLeases(namespace);
      this.#use.saw(namespace, records);
      this.#onRead(namespace, records);
      const { held, expired, used } = summarise(records, await storeTime(store));
      infos.push({ namespace, ...shapeOf(namespace, records), held, expired, used });
    }
    this.#last = infos;
    return infos;
  }
}

/** The layout and the number of node ids of a namespace, from its own records. */
export function shapeOf(
  namespace: string,
  own: readonly LeaseRecord[],
): Pick<NamespaceInfo, 'layout' | 'size'> {
  const { layout, size } = summarise(own, 0);
  return { layout: layoutName(layout), size: size ?? UUID_NAMESPACES[namespace] ?? null };
}

/** The name of a layout that the library has, or its fingerprint. */
function layoutName(fingerprint: string | undefined): string | null {
  if (fingerprint === undefined) return null;
  const known = Object.entries(layouts).find(([, layout]) => layout.fingerprint === fingerprint);
  return known?.[0] ?? fingerprint;
}

/** The longest ttl on a store that can forget and states no `maxTtl`, ms. */
const DEFAULT_MAX_TTL = 30_000;

/** The guarantees of a store that remote clients must know to use it as safely as local ones. */
export interface StoreGuarantees {
  /** True if the store keeps everything that it has acknowledged. */
  readonly durable: boolean;
  /** The longest ttl of a lease, ms, on a store that can forget; `null` on a durable store. */
  readonly maxTtl: number | null;
}

export function guaranteesOf(store: Store): StoreGuarantees {
  const durable = store.durable !== false;
  return { durable, maxTtl: durable ? null : (store.maxTtl ?? DEFAULT_MAX_TTL) };
}

/** The time of the store's clock, or of this machine's if the store has no clock. */
export async function storeTime(store: Store): Promise<number> {
  return (await store.now?.()) ?? Date.now();
}
