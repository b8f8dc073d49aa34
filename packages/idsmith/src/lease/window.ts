/** A node id and the timestamps that may go into ids with it: `from` and later, before `until`. */
export interface LeaseWindow {
  readonly node: number;
  readonly from: number;
  readonly until: number;
}

/** A generator, as its lease sees it. */
export interface LeaseUser {
  /** How many node ids it can put into ids, 0 … nodes − 1. A lease with a larger `size` is refused. */
  readonly nodes: number;
  /**
   * How it lays its ids out, if another layout with the same node ids could make the same ids: the namespace remembers
   * it, and refuses others.
   */
  readonly layout?: string;
  /** The window was extended, or is another one by now. */
  move(window: LeaseWindow): void;
  /** Ends minting in one atomic step, and returns the last timestamp that went into an id, −1 if none did. */
  close(): number;
}

/** The method by which a generator binds a lease. Internal: the declarations of `Lease` do not show it. */
export const bindLease: unique symbol = Symbol('bindLease');

/** A `Lease`, as its generator sees it. Tests implement it to decide windows themselves. */
export interface Leasable {
  /** @throws InvalidOptionError when the lease drives a generator already, or has more node ids than the generator */
  [bindLease](user: LeaseUser): LeaseWindow;
}
