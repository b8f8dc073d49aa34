import { processLabel } from '#runtime';
import { type Clock, systemClock } from '../clock.js';
import { type Complete, refuse, requireInteger, requireKnown, requireMethod, show } from '../options.js';
import { type RandomSource, systemRandom } from '../random.js';
import { systemTimer, type Timer } from '../support/timer.js';
import { requireNamespace, STORE_NAMESPACE } from './namespace.js';
import { type NodeWait, warnOfWait } from './node-wait.js';
import type { LeaseStore } from './port.js';
import { layoutWithin } from './protocol.js';

/** Options of `acquireLease`. */
export interface LeaseOptions {
  /** Generators of one namespace share its node ids. */
  namespace: string;
  /** The number of node ids, 0 … size − 1. Default all node ids of `layout`. */
  size?: number | undefined;
  /**
   * The first and the last node id that this store gives out, for regions that have a store each: `[0, 255]`. The ranges of the regions must
   * not overlap. Needs `layout`: the namespace remembers the range with the layout, and refuses every other range, and none.
   */
  nodes?: NodeRange | undefined;
  /**
   * The layout of the flakes that the lease is for. The namespace remembers the first layout. Another layout is refused before
   * anything is held. Without this option the layouts are compared when a generator takes the lease.
   */
  layout?: LeaseLayout | undefined;
  /**
   * The length of a lease without renewal, ms. Default 30,000, or the `maxTtl` of the store if that is less. On a store that tells its lineage,
   * a longer one counts after about 80 seconds: see `docs/lineage.md`.
   */
  ttl?: number | undefined;
  /** A text for people. Default host and process id, where the runtime tells them. */
  label?: string | undefined;
  /** Default the machine's clock. */
  clock?: Clock | undefined;
  /** The largest difference between this clock and the store's clock, ms. Default 10,000. */
  maxSkew?: number | undefined;
  /**
   * The longest wait for a node id that is free but whose fence lies ahead, ms. Default the ttl. On a store that can forget,
   * the default is long enough for a namespace that the store has just lost.
   */
  waitFor?: number | undefined;
  /**
   * The most that this clock may be ahead of everything in the namespace, ms, on a store that cannot check clocks (memory,
   * SQLite). Default 366 days. More means a wrong clock, unless nobody has used the namespace for so long.
   */
  maxIdle?: number | undefined;
  /** Replaces a lost lease in the background. Default `true`. */
  reacquire?: boolean | undefined;
  /** Default the runtime's timers. */
  timer?: Timer | undefined;
  /** The random source of owners' names and jitter. Default the runtime's cryptographic source. */
  random?: RandomSource | undefined;
  /**
   * Called when the acquisition waits for a node id for more than a second, and when the replacement of a lost lease does. By default a
   * wait of three seconds or more is a warning of the process (`process.on('warning', …)`), unless the lease has a `timer` of its own.
   */
  onWait?: ((wait: NodeWait) => void) | undefined;
  /** Ends the acquisition. The promise then rejects with the reason of the signal, and nothing is held. */
  signal?: AbortSignal | undefined;
}

/** The first and the last node id of a range. */
export type NodeRange = readonly [first: number, last: number];

/** The part of a layout that leases use. */
interface LeaseLayout {
  /** The number of node ids. */
  readonly nodes: number;
  /** A text that is the same for all layouts that make the same ids of the same fields. */
  readonly fingerprint: string;
}

export type LeaseSettings = Readonly<
  Complete<Omit<LeaseOptions, 'nodes' | 'layout' | 'waitFor' | 'signal'>>
> & {
  readonly store: LeaseStore;
  readonly maxTtl: number;
  /** The shortest time for which any client of the store waits after a loss, ms. */
  readonly usualTtl: number;
  /** `undefined` for the longest wait that can be necessary. */
  readonly waitFor: number | undefined;
  /** The lowest node id. The others follow, up to `first` + `size` − 1. */
  readonly first: number;
  /** The node ids of this store, if they are not all of the layout. */
  readonly nodes: NodeRange | undefined;
  /** The layout's fingerprint, with the node ids of this store; `undefined` while none is known. */
  readonly layout: string | undefined;
  /** The store's time of an acknowledged write of this process that is missing in the store, ms. */
  readonly lostWrite?: number | undefined;
};

const KNOWN: readonly (keyof LeaseOptions)[] = [
  'namespace',
  'size',
  'nodes',
  'layout',
  'ttl',
  'label',
  'clock',
  'maxSkew',
  'waitFor',
  'maxIdle',
  'reacquire',
  'timer',
  'random',
  'onWait',
  'signal',
];

const DAY = 86_400_000;
const DEFAULT_TTL = 30_000;
/** The limit of a store that can forget and sets no limit itself. */
export const DEFAULT_MAX_TTL = DEFAULT_TTL;

/**
 * The options of a lease, checked, with the defaults of those that were left out. Nothing is asked of the store.
 *
 * @throws InvalidOptionError naming the first option that is wrong
 */
export function leaseSettings(store: LeaseStore, options: LeaseOptions): LeaseSettings {
  if (typeof store?.listLeases !== 'function' || typeof store.swapLease !== 'function') {
    refuse('store', 'a lease store', store);
  }
  const {
    namespace,
    layout,
    label = processLabel(),
    reacquire = true,
  } = requireKnown('options', options, KNOWN);
  // Only what is left out has a default: null is refused.
  const {
    ttl = Math.min(DEFAULT_TTL, store.maxTtl ?? DEFAULT_TTL),
    maxSkew = 10_000,
    maxIdle = 366 * DAY,
    waitFor,
  } = options;
  requireNamespace(namespace);
  if (namespace === STORE_NAMESPACE) refuse('namespace', "another one: this is the store's own", namespace);
  requireLabel(label);
  if (typeof reacquire !== 'boolean') refuse('reacquire', 'true or false', reacquire);
  const { onWait = options.timer === undefined ? warnOfWait : () => undefined } = options;
  if (typeof onWait !== 'function') refuse('onWait', 'a function', onWait);
  if (layout !== undefined && typeof layout?.fingerprint !== 'string')
    refuse('layout', 'a layout made by defineLayout()', layout);
  const range = requireRange(options);
  requireInteger('ttl', ttl, 100, DAY);
  requireInteger('maxSkew', maxSkew, 0, DAY);
  if (store.pageSize !== undefined) requireInteger("the store's pageSize", store.pageSize, 1, 2 ** 16);
  const isVolatile = store.durable === false;
  const maxTtl = store.maxTtl ?? (isVolatile ? DEFAULT_MAX_TTL : Math.max(DEFAULT_MAX_TTL, ttl));
  if (isVolatile && store.now === undefined)
    refuse('store', 'a store with now(), because this one has durable: false', store);
  if (isVolatile && ttl > maxTtl) {
    refuse('ttl', `at most ${show(maxTtl)} on a store that can forget`, ttl);
  }
  return {
    store,
    namespace,
    label,
    reacquire,
    ttl,
    maxTtl,
    usualTtl: store.usualTtl ?? Math.min(DEFAULT_MAX_TTL, store.maxTtl ?? DEFAULT_MAX_TTL),
    onWait,
    ...range,
    layout: layout && layoutWithin(layout.fingerprint, range.nodes),
    maxSkew,
    maxIdle: requireInteger('maxIdle', maxIdle, 1, Number.MAX_SAFE_INTEGER),
    waitFor: waitFor === undefined ? undefined : requireInteger('waitFor', waitFor, 0, 3 * DAY),
    clock: requireMethod('clock', 'now', options.clock, systemClock),
    timer: requireMethod('timer', 'after', options.timer, systemTimer),
    random: requireMethod('random', 'fill', options.random, systemRandom),
  };
}

/**
 * The node ids of a lease. A range of all node ids of the layout is no range.
 *
 * @throws InvalidOptionError naming `size` or `nodes`
 */
function requireRange({
  size,
  nodes,
  layout,
}: LeaseOptions): Pick<LeaseSettings, 'first' | 'size' | 'nodes'> {
  if (nodes === undefined) {
    const all = size === undefined ? layout?.nodes : size;
    return {
      first: 0,
      size: requireInteger('size', all, 1, layout?.nodes ?? 2 ** 32),
      nodes: undefined,
    };
  }
  if (layout === undefined) refuse('nodes', 'given together with layout', nodes);
  if (size !== undefined) refuse('size', 'left out where nodes is given', size);
  if (!Array.isArray(nodes) || nodes.length !== 2)
    refuse('nodes', 'two numbers, the first and the last node id', nodes);
  const first = requireInteger('nodes[0]', nodes[0], 0, layout.nodes - 1);
  const last = requireInteger('nodes[1]', nodes[1], first, layout.nodes - 1);
  const count = last - first + 1;
  return { first, size: count, nodes: count === layout.nodes ? undefined : [first, last] };
}

/** @throws InvalidOptionError unless every store can keep the label */
export function requireLabel(label: string): string {
  // Half of a surrogate pair has no UTF-8 form.
  if (typeof label === 'string' && label.length <= 255 && !/[\0\p{Surrogate}]/u.test(label)) return label;
  refuse('label', 'well-formed text of up to 255 characters without NUL', label);
}
