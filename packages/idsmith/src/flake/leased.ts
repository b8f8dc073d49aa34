import { acquireLease } from '../lease/lease.js';
import type { LeaseStore } from '../lease/port.js';
import { type IdForm, requireKnown } from '../options.js';
import { FlakeGenerator, provideLeasing } from './generator.js';
import { requireLayout } from './layout.js';
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
  const lease = await acquireLease(store, { ...pick(options, LEASE_NAMES), layout });
  try {
    return FlakeGenerator.owning(lease, { ...pick(options, GENERATOR_NAMES), layout });
  } catch (error) {
    // If this fails, the lease expires.
    await lease.release().catch(() => undefined);
    throw error;
  }
});

/** The members of `options` with these names, as far as they are given. */
function pick<T extends object, Name extends keyof T>(options: T, names: readonly Name[]): Pick<T, Name> {
  const given = names.filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name]])) as Pick<T, Name>;
}
