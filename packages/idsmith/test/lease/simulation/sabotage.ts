import type { LeaseRecord } from 'idsmith';
import { NAMESPACE_ID } from '../../../src/lease/protocol.ts';
import { bindLease, type LeaseUser, type LeaseWindow } from '../../../src/lease/window.ts';
import { Timeline } from '../../../src/locality/timeline.ts';
import { OwnPosition } from '../../../src/uuid7/position.ts';
import { asLease } from '../../support/hand-lease.ts';
import type { Sabotage } from './simulation.ts';
import { SimulatedStore } from './store.ts';

/** Comes between a lease and its generator, and changes what one tells the other. */
function between(change: {
  /** Called for each lease, so that what it gives may remember. */
  window?: () => (window: LeaseWindow) => LeaseWindow;
  close?: (user: LeaseUser, lastUsed: number) => number;
}): Sabotage {
  const close = change.close ?? ((user) => user.close());
  return {
    tamper: (lease, lastUsed) =>
      asLease({
        [bindLease](user) {
          const window = change.window?.() ?? ((same) => same);
          const changed = {
            ...user,
            move: (next: LeaseWindow) => user.move(window(next)),
            close: () => close(user, lastUsed()),
          };
          return window(lease[bindLease](changed));
        },
      }),
  };
}

/**
 * Locality generators stay where they are in a new window if they have come to its start before, or have read such a time
 * though it led to no id.
 */
const staysWhereItWas: Sabotage = {
  breaks() {
    const { enter, stamp } = Timeline.prototype;
    const highest = new WeakMap<Timeline, number>();
    const windows = new WeakMap<Timeline, LeaseWindow>();
    Timeline.prototype.stamp = function (reading, ...rest) {
      highest.set(this, Math.max(highest.get(this) ?? -1, reading));
      return stamp.call(this, reading, ...rest);
    };
    Timeline.prototype.enter = function (window) {
      const before = windows.get(this);
      const stays = before && (highest.get(this) ?? -1) >= window.from;
      const entered = stays ? { ...before, until: window.until } : window;
      windows.set(this, entered);
      enter.call(this, entered);
    };
    return () => Object.assign(Timeline.prototype, { enter, stamp });
  },
};

/** UUIDv7 generators stay in the first window that they had. */
const staysInFirstWindow: Sabotage = {
  breaks() {
    const { enter } = OwnPosition.prototype;
    const firsts = new WeakMap<OwnPosition, LeaseWindow>();
    OwnPosition.prototype.enter = function (window) {
      const first = firsts.get(this) ?? window;
      firsts.set(this, first);
      enter.call(this, { ...first, until: Math.max(first.until, window.until) });
    };
    return () => Object.assign(OwnPosition.prototype, { enter });
  },
};

function store(Store: typeof SimulatedStore): Sabotage {
  return { Store };
}

/** What is wrong, by what it is: each must be found out within a few seeds. */
export const SABOTAGES: Readonly<Record<string, Sabotage>> = {
  'a generator goes on past the end of its window': between({
    window: () => (window) => ({ ...window, until: window.until + 2000 }),
  }),
  'a generator begins before its window': between({
    window: () => (window) => ({ ...window, from: window.from - 2000 }),
  }),
  'a generator keeps the node id of its first window': between({
    window: () => {
      let first: number | undefined;
      return (window) => {
        first ??= window.node;
        return { ...window, node: first };
      };
    },
  }),
  'a locality generator stays where it was when its window is replaced': staysWhereItWas,
  'a UUIDv7 generator keeps its node id and start when its window is replaced': staysInFirstWindow,
  'a client with a lower limit founds a namespace that it never saw': { isCareless: true },
  'a generator is not closed on release': between({ close: (_, lastUsed) => lastUsed }),
  'a release tells less than was used': between({ close: (user) => Math.min(user.close(), -1) }),
  'a store swaps whatever is there': store(
    class extends SimulatedStore {
      protected override isAsExpected(): boolean {
        return true;
      }
    },
  ),
  'a holder takes a copy of itself for itself': store(
    class extends SimulatedStore {
      // The store tells everybody who asks that the record is the one they expect, as long as the epoch is.
      protected override isAsExpected(current?: LeaseRecord, expected?: LeaseRecord): boolean {
        const isHeld = current !== undefined && current.owner !== null && current.id >= 0;
        return isHeld && expected?.epoch === current.epoch ? true : super.isAsExpected(current, expected);
      }
    },
  ),
  'a store compares with what it had one swap ago': store(
    class extends SimulatedStore {
      #before = new Map<number, LeaseRecord>();

      protected override swap(expected: LeaseRecord | undefined, next: LeaseRecord): boolean {
        const before = this.#before;
        this.#before = new Map(this.records);
        if (!this.isAsExpected(before.get(next.id), expected)) return false;
        this.records.set(next.id, next);
        return true;
      }
    },
  ),
  'a store says yes to a renewal and does not keep it': store(
    class extends SimulatedStore {
      protected override swap(expected: LeaseRecord | undefined, next: LeaseRecord): boolean {
        const isRenewal = next.id >= 0 && next.owner !== null && expected?.epoch === next.epoch;
        return isRenewal
          ? this.isAsExpected(this.records.get(next.id), expected)
          : super.swap(expected, next);
      }
    },
  ),
  'a store does not keep the fence of what is released': store(
    class extends SimulatedStore {
      protected override swap(expected: LeaseRecord | undefined, next: LeaseRecord): boolean {
        return super.swap(expected, next.owner === null ? { ...next, fence: 0 } : next);
      }
    },
  ),
  'a store that can forget says that it cannot': store(
    class extends SimulatedStore {
      override restart(): void {
        this.records.clear();
      }
    },
  ),
  'a store that goes back tells the same lineage': store(
    class extends SimulatedStore {
      override get lineage(): string | undefined {
        return this.traits.tellsLineage ? 'life 0' : undefined;
      }
    },
  ),
  'a newcomer does not wait after its store went back': store(
    class extends SimulatedStore {
      protected override swap(expected: LeaseRecord | undefined, next: LeaseRecord): boolean {
        const isBirth = this.traits.tellsLineage && next.id === NAMESPACE_ID;
        return super.swap(expected, isBirth ? { ...next, fence: 0 } : next);
      }
    },
  ),
  'a store comes back as it was some time ago': store(
    class extends SimulatedStore {
      #earlier = new Map<number, LeaseRecord>();

      override restart(): void {
        const now = new Map(this.records);
        this.records = this.#earlier;
        this.#earlier = now;
      }
    },
  ),
};
