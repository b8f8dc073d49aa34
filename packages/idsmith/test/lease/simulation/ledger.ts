import type { Layout, Lease } from 'idsmith';

/** An id of any family: flakes are numbers, UUIDs are texts. */
export type AnyId = bigint | string;

/** Families of ids that are minted on leases. */
export type Family = 'flake' | 'locality' | 'uuid7';

/** How far one generator has come. */
export interface Trail {
  readonly family: Family;
  /** The last id as a number, if ids of the family ascend, and the highest timestamp used; −1 for none. */
  lastId: bigint;
  lastUsed: number;
}

/** All ids of all processes, and what must hold of them. */
export class Ledger {
  /** What was wrong with the first id that was. */
  violation: string | undefined;
  readonly #layout: Layout;
  readonly #ids = new Set<AnyId>();
  /** For each node id and timestamp, whose they are. */
  readonly #users = new Map<string, string>();

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  get size(): number {
    return this.#ids.size;
  }

  /** Takes down what one generator has just minted with its lease, and goes along its trail. */
  enter(ids: readonly AnyId[], trail: Trail, machine: string, lease: Lease): void {
    for (const id of ids) {
      const fields = this.#decode(id, trail.family);
      this.#check(id, fields, machine, lease);
      this.#ids.add(id);
      trail.lastUsed = Math.max(trail.lastUsed, fields.timestamp);
      if (trail.family === 'locality') continue;
      const number = typeof id === 'bigint' ? id : BigInt(`0x${id.replaceAll('-', '')}`);
      if (number <= trail.lastId) this.violation ??= `${machine} minted ${id}, not above the one before`;
      trail.lastId = number;
    }
  }

  #decode(id: AnyId, family: Family): { node: number; timestamp: number } {
    if (typeof id === 'bigint') return this.#layout.decode(id);
    if (family === 'uuid7') {
      const digits = id.replaceAll('-', '');
      return {
        node: Number.parseInt(digits.slice(28), 16),
        timestamp: Number.parseInt(digits.slice(0, 12), 16),
      };
    }
    return { node: Number.parseInt(id.slice(9, 13), 16), timestamp: Number.parseInt(id.slice(24), 16) };
  }

  #check(
    id: AnyId,
    { node, timestamp }: { node: number; timestamp: number },
    machine: string,
    lease: Lease,
  ): void {
    const { from, until } = lease;
    const user = `${machine} in its lease ${lease.term} of ${lease.id}`;
    const other = this.#users.get(`${node}@${timestamp}`) ?? user;
    this.#users.set(`${node}@${timestamp}`, other);
    const complain = (what: string) => {
      this.violation ??= `${user}, ${from} to ${until}, minted ${id}, ${node}@${timestamp}: ${what}`;
    };
    if (this.#ids.has(id)) complain(`an id of ${other} again`);
    if (other !== user) complain(`used by ${other}`);
    if (node !== lease.id) complain('another node id');
    if (timestamp < from || timestamp >= until) complain('outside its window');
  }
}
