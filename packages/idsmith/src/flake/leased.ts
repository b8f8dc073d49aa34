import { LeasesExhaustedError } from '../errors.js';
import { acquireLease, type Lease } from '../lease/lease.js';
import type { LeaseOptions } from '../lease/options.js';
import type { LeaseStore } from '../lease/port.js';
import { type IdForm, requireKnown } from '../options.js';
import { FlakeGenerator, provideLeasing } from './generator.js';
import { type Layout, requireLayout } from './layout.js';
import { layouts } from './layouts.js';
import type { LeasedFlakeOptions } from './options.js';
// Loaded where nothing is bundled: `connect` comes here without the index.
import './shared-state.js';

const GENERATOR_NAMES = ['layout', 'clock', 'onFull', 'onClockBack', 'maxBackward', 'as'] as const;
const LEASE_NAMES = [
  'namespace',
  'nodes',
  'ttl',
  'label',
  'maxSkew',
  'waitFor',
  'maxIdle',
  'reacquire',
  'clock',
  'timer',
  'random',
  'onWait',
  'signal',
] as const;

const NAMES = [...new Set([...LEASE_NAMES, ...GENERATOR_NAMES])];

/**
 * Makes a generator on a lease of its own, which `close()` releases. The number of node ids comes from the layout. A generator that cannot
 * be made leaves nothing held.
 *
 * @throws LeasesExhaustedError when all node ids are held, or none can be used within `waitFor`
 * @throws InvalidOptionError naming the first option that is wrong; also when the namespace has another layout
 * @throws ClockError when this clock and the store's differ by more than `maxSkew`
 * @throws StoreError when the store fails
 *
 * @example
 * const ids = await leaseFlakes(store, { namespace: 'orders' });
 */
export const leaseFlakes = /* @__PURE__ */ provideLeasing(async function leaseFlakes<
  F extends IdForm = 'bigint',
>(store: LeaseStore, options: LeasedFlakeOptions<F>): Promise<FlakeGenerator<F>> {
  requireKnown('options', options, NAMES);
  const { layout = layouts.jflake } = options;
  requireLayout(layout);
  const lease = await acquireFlakeLease(store, { ...pick(options, LEASE_NAMES), layout });
  try {
    return FlakeGenerator.owning(lease, { ...pick(options, GENERATOR_NAMES), layout });
  } catch (error) {
    // If this fails, the lease expires.
    await lease.release().catch(() => undefined);
    throw error;
  }
});

/**
 * Acquires a lease for flakes of a layout.
 *
 * @throws LeasesExhaustedError naming the layouts with more node ids; other errors as `acquireLease` throws
 */
export async function acquireFlakeLease(
  store: LeaseStore,
  options: LeaseOptions & { layout: Layout },
): Promise<Lease> {
  try {
    return await acquireLease(store, options);
  } catch (error) {
    if (!(error instanceof LeasesExhaustedError)) throw error;
    const { message, taken, size } = error;
    throw new LeasesExhaustedError(message + largerLayouts(options.layout), { cause: error, taken, size });
  }
}

/** `. Layouts with more node ids: snowflake (1,024), …`: one preset for each number. Empty if none has more. */
function largerLayouts({ nodes }: Layout): string {
  const larger = new Map<number, string>();
  for (const [name, each] of Object.entries(layouts))
    if (each.nodes > nodes && !larger.has(each.nodes)) larger.set(each.nodes, name);
  if (larger.size === 0) return '';
  const list = [...larger]
    .sort(([a], [b]) => a - b)
    .map(([count, name]) => `${name} (${count.toLocaleString('en')})`)
    .join(', ');
  return `. Layouts with more node ids: ${list}; npx idsmith plan compares them`;
}

/** The members of `options` with these names, as far as they are given. */
function pick<T extends object, Name extends keyof T>(options: T, names: readonly Name[]): Pick<T, Name> {
  const given = names.filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name]])) as Pick<T, Name>;
}
