import { type Clock, systemClock } from '../clock.js';
import { refuse, requireInteger, requireMethod, show } from '../options.js';
import { type RandomSource, systemRandom } from '../random.js';
import { requireNamespace } from './namespace.js';
import type { LeaseStore } from './port.js';
import { systemTimer, type Timer } from './timer.js';

/** What `acquireLease` takes. */
export interface LeaseOptions {
  /** Generators of one namespace share its node ids. */
  namespace: string;
  /** How many node ids there are: 0 … size − 1. */
  size: number;
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
  /** Replace a lost lease in the background. Default true. */
  reacquire?: boolean;
  /** Default the runtime's timers. */
  timer?: Timer;
  /** For owners' names and jitter. Default the runtime's cryptographic source. */
  random?: RandomSource;
}

export type LeaseSettings = Readonly<Required<LeaseOptions>> & {
  readonly store: LeaseStore;
  readonly maxTtl: number;
};

const DAY = 86_400_000;
/** For a store that can forget and names none. */
const DEFAULT_MAX_TTL = 60_000;

/** @throws InvalidOptionError naming the first option that is wrong */
export function leaseSettings(store: LeaseStore, options: LeaseOptions): LeaseSettings {
  if (typeof store?.listLeases !== 'function' || typeof store.swapLease !== 'function') {
    refuse('store', 'a lease store', store);
  }
  if (typeof options !== 'object' || options === null) refuse('options', 'an object', options);
  const { namespace, label = '', reacquire = true } = options;
  requireNamespace(namespace);
  if (typeof label !== 'string' || label.length > 255 || label.includes('\0')) {
    refuse('label', 'text of up to 255 characters without NUL', label);
  }
  if (typeof reacquire !== 'boolean') refuse('reacquire', 'true or false', reacquire);
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
    size: requireInteger('size', options.size, 1, 2 ** 32),
    maxSkew,
    waitFor: requireInteger(
      'waitFor',
      options.waitFor ?? ttl + (forgetful ? maxTtl + 2 * maxSkew : 0),
      0,
      3 * DAY,
    ),
    clock: requireMethod('clock', 'now', options.clock, systemClock),
    timer: requireMethod('timer', 'after', options.timer, systemTimer),
    random: requireMethod('random', 'fill', options.random, systemRandom),
  };
}
