import { type Clock, systemClock } from '../clock.js';
import { refuse, requireInteger, requireKnown, requireMethod, show } from '../options.js';
import { type RandomSource, systemRandom } from '../random.js';
import { systemTimer, type Timer } from '../support/timer.js';
import { requireNamespace } from './namespace.js';
import type { LeaseStore } from './port.js';

/** What `acquireLease` takes. */
export interface LeaseOptions {
  /** Generators of one namespace share its node ids. */
  namespace: string;
  /** How many node ids there are: 0 … size − 1. Default all that `layout` has room for. */
  size?: number;
  /**
   * The layout of the flakes that the lease is for. The namespace remembers the first one; another is refused before
   * anything is held. Without it the layout of the generator is compared when the lease is bound to it.
   */
  layout?: LeaseLayout;
  /** How long a lease lasts without being renewed, ms. Default 30,000. */
  ttl?: number;
  /** Who this is, for people. Default empty. */
  label?: string;
  /** Default the machine's clock. */
  clock?: Clock;
  /** How much this clock and the store's may differ, ms. Default 10,000. */
  maxSkew?: number;
  /**
   * How long to wait for an id that nobody holds but whose fence lies ahead, ms. Default the ttl; on a store that can
   * forget, long enough for a namespace that it has just lost.
   */
  waitFor?: number;
  /**
   * How far this clock may be ahead of everything in the namespace, ms, on a store that cannot check clocks (memory,
   * SQLite). Default a year of 366 days: nothing but a wrong clock explains more, unless nobody has used the namespace.
   */
  maxIdle?: number;
  /** Replace a lost lease in the background. Default true. */
  reacquire?: boolean;
  /** Default the runtime's timers. */
  timer?: Timer;
  /** For owners' names and jitter. Default the runtime's cryptographic source. */
  random?: RandomSource;
}

/** A layout, as leases know it. */
export interface LeaseLayout {
  /** How many node ids it has room for. */
  readonly nodes: number;
  /** One text for all layouts that make the same ids of the same fields. */
  readonly fingerprint: string;
}

export type LeaseSettings = Readonly<Required<Omit<LeaseOptions, 'layout' | 'waitFor'>>> & {
  readonly store: LeaseStore;
  readonly maxTtl: number;
  /** `undefined` for as long as anybody must wait. */
  readonly waitFor: number | undefined;
  /** The layout's fingerprint; `undefined` while none is known. */
  readonly layout: string | undefined;
};

const KNOWN: readonly (keyof LeaseOptions)[] = [
  ...(['namespace', 'size', 'layout', 'ttl', 'label', 'clock', 'maxSkew', 'waitFor'] as const),
  ...(['maxIdle', 'reacquire', 'timer', 'random'] as const),
];

const DAY = 86_400_000;
/** For a store that can forget and names none. */
const DEFAULT_MAX_TTL = 60_000;

/** @throws InvalidOptionError naming the first option that is wrong */
export function leaseSettings(store: LeaseStore, options: LeaseOptions): LeaseSettings {
  if (typeof store?.listLeases !== 'function' || typeof store.swapLease !== 'function') {
    refuse('store', 'a lease store', store);
  }
  const { namespace, layout, label = '', reacquire = true } = requireKnown('options', options, KNOWN);
  requireNamespace(namespace);
  if (typeof label !== 'string' || label.length > 255 || label.includes('\0')) {
    refuse('label', 'text of up to 255 characters without NUL', label);
  }
  if (typeof reacquire !== 'boolean') refuse('reacquire', 'true or false', reacquire);
  if (layout !== undefined && typeof layout?.fingerprint !== 'string')
    refuse('layout', 'what defineLayout() gives', layout);
  const ttl = requireInteger('ttl', options.ttl ?? 30_000, 100, DAY);
  const maxTtl = store.maxTtl ?? DEFAULT_MAX_TTL;
  const forgetful = store.durable === false;
  if (forgetful && store.now === undefined) refuse('store', 'one with a clock, if it can forget', store);
  const maxSkew = requireInteger('maxSkew', options.maxSkew ?? 10_000, 0, DAY);
  if (forgetful && ttl > maxTtl) {
    refuse('ttl', `${show(maxTtl)} at most on a store that can forget`, ttl);
  }
  return {
    ...{ store, namespace, label, reacquire, ttl, maxTtl },
    layout: layout?.fingerprint,
    size: requireInteger('size', options.size ?? layout?.nodes, 1, layout?.nodes ?? 2 ** 32),
    maxSkew,
    maxIdle: requireInteger('maxIdle', options.maxIdle ?? 366 * DAY, 1, Number.MAX_SAFE_INTEGER),
    waitFor:
      options.waitFor === undefined ? undefined : requireInteger('waitFor', options.waitFor, 0, 3 * DAY),
    clock: requireMethod('clock', 'now', options.clock, systemClock),
    timer: requireMethod('timer', 'after', options.timer, systemTimer),
    random: requireMethod('random', 'fill', options.random, systemRandom),
  };
}
