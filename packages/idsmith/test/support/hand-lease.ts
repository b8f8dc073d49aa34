import type { Lease } from 'idsmith';
import { bindLease, type Leasable, type LeaseUser, type LeaseWindow } from '../../src/lease/window.ts';

/** A lease whose window is wherever the test moves it. */
class HandLease implements Leasable {
  window: LeaseWindow;
  user: LeaseUser | undefined;

  constructor(window: LeaseWindow) {
    this.window = window;
  }

  [bindLease](user: LeaseUser): LeaseWindow {
    this.user = user;
    return this.window;
  }

  move(window: Partial<LeaseWindow>): void {
    this.window = { ...this.window, ...window };
    this.user?.move(this.window);
  }

  release(): number {
    return this.user?.close() ?? -1;
  }
}

/** A lease of the test's own, in the type that generators take. */
export function handLease(node: number, from = 0, until = Number.MAX_SAFE_INTEGER): HandLease & Lease {
  return asLease(new HandLease({ node, from, until }));
}

/** Generators use nothing of a lease but its binding, so anything that can be bound will do. */
export function asLease<T extends Leasable>(double: T): T & Lease {
  return double as T & Lease;
}
