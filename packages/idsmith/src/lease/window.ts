import { copyingPlatform } from '#runtime';
import { ClosedError, InvalidOptionError } from '../errors.js';
import { show } from '../options.js';

/** A node id and the timestamps that may go into ids with it: `from` and later, before `until`. */
export interface LeaseWindow {
  readonly node: number;
  readonly from: number;
  readonly until: number;
}

/** A generator, as its lease sees it. */
export interface LeaseUser {
  /** The number of node ids that fit into its ids, 0 … nodes − 1. A lease with a larger `size` is refused. */
  readonly nodes: number;
  /**
   * The fingerprint of its layout, if another layout with the same node ids could make the same ids. The namespace remembers
   * the layout and refuses others.
   */
  readonly layout?: string;
  /** True if its ids are only as different as its node ids: nothing in them is random. */
  readonly isPlain?: boolean;
  /** Takes a window that was extended or replaced. */
  move(window: LeaseWindow): void;
  /** Ends minting in one atomic step. Returns the last timestamp that went into an id, −1 if none did. */
  close(): number;
}

/** The error of every method of a generator that has ended. */
export function generatorClosed(): ClosedError {
  return new ClosedError('this generator was closed, or its lease was released: make another one');
}

/** The method by which a generator binds a lease. Internal: the declarations of `Lease` do not show it. */
export const bindLease: unique symbol = Symbol.for('idsmith.bindLease');

/** A `Lease`, as its generator sees it. Tests implement it to decide windows themselves. */
export interface Leasable {
  /**
   * @throws InvalidOptionError when the lease drives a generator already, or does not fit this one
   * @throws ClosedError when the lease was released
   */
  [bindLease](user: LeaseUser): LeaseWindow;
}

/**
 * Copies of a container that each have a store of their own give out the same node ids at the same moment.
 *
 * @throws InvalidOptionError when this is such a copy, and only the node ids keep the generator's ids apart
 */
export function requireShared(isOwnStore: boolean, { isPlain }: LeaseUser): void {
  const platform = isOwnStore && isPlain === true ? copyingPlatform() : undefined;
  if (platform === undefined) return;
  throw new InvalidOptionError(
    `sequential ids need a store that all copies of this program share. This store is of one ${platform} container, and two that start at one ` +
      "moment would repeat each other's ids: use a database server, or mode 'variable'",
  );
}

/** @throws InvalidOptionError when the lease may get node ids that the generator cannot put into ids */
export function requireRoom(
  lease: { namespace: string; first: number; size: number },
  { nodes }: LeaseUser,
): void {
  const { namespace } = lease;
  const size = lease.first + lease.size;
  if (size <= nodes) return;
  throw new InvalidOptionError(
    `a lease of namespace ${show(namespace)} with size ${size} does not fit a generator that has room for ${nodes} node ids: ` +
      `acquire the lease with size ${nodes} at most`,
  );
}
