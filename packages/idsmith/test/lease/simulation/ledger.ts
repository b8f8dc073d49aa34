import type { Layout, Lease } from 'idsmith';

/** All ids of all processes, and what must hold of them. */
export class Ledger {
  /** What was wrong with the first id that was. */
  violation: string | undefined;
  readonly #layout: Layout;
  readonly #ids = new Set<bigint>();
  /** For each node id and timestamp, whose they are. */
  readonly #users = new Map<string, string>();

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  get size(): number {
    return this.#ids.size;
  }

  /**
   * Takes down what one generator has just minted with its lease.
   *
   * @param last the generator's last id before these; returns the last of these
   */
  enter(ids: readonly bigint[], last: bigint, machine: string, lease: Lease): bigint {
    let before = last;
    for (const id of ids) {
      this.#check(id, before, machine, lease);
      this.#ids.add(id);
      before = id;
    }
    return before;
  }

  #check(id: bigint, before: bigint, machine: string, lease: Lease): void {
    const { timestamp, node } = this.#layout.decode(id);
    const { from, until } = lease;
    const user = `${machine} in its lease ${lease.epoch} of ${lease.id}`;
    const other = this.#users.get(`${node}@${timestamp}`) ?? user;
    this.#users.set(`${node}@${timestamp}`, other);
    const complain = (what: string) => {
      this.violation ??= `${user}, ${from} to ${until}, minted ${node}@${timestamp}: ${what}`;
    };
    if (this.#ids.has(id)) complain(`the id ${id} of ${other} again`);
    if (other !== user) complain(`used by ${other}`);
    if (node !== lease.id) complain('another node id');
    if (timestamp < from || timestamp >= until) complain('outside its window');
    if (id <= before) complain(`not above the id before, ${before}`);
  }
}
