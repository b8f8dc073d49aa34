import { acquireLease } from '../lease/acquire-lease.js';
import type { LeaseOptions } from '../lease/options.js';
import type { LeaseStore } from '../lease/port.js';
import { refuse, requireKnown } from '../options.js';
import { Layout } from './layout.js';
import { layouts } from './layouts.js';
import type { FlakeOptions } from './options.js';

/** The options of `FlakeGenerator.lease`: those of the generator and of its lease. The layout decides the number of node ids. */
export interface LeasedFlakeOptions
  extends Omit<LeaseOptions, 'size' | 'layout'>,
    Omit<FlakeOptions, 'node'> {}

const GENERATOR_NAMES = ['layout', 'clock', 'onFull', 'onClockBack', 'maxBackward'] as const;
const LEASE_NAMES = [
  ...(['namespace', 'ttl', 'label', 'maxSkew', 'waitFor', 'maxIdle', 'reacquire'] as const),
  ...(['clock', 'timer', 'random', 'onWait', 'signal'] as const),
];

/** The names of {@link LeasedFlakeOptions}. */
export const LEASED_FLAKE_NAMES: readonly string[] = [...new Set([...LEASE_NAMES, ...GENERATOR_NAMES])];

/**
 * Acquires a lease for a generator and makes the generator. A generator that cannot be made leaves nothing held.
 *
 * @throws InvalidOptionError naming the first option that is wrong
 */
export async function leaseFor<T>(
  store: LeaseStore,
  options: LeasedFlakeOptions,
  make: (options: FlakeOptions) => T,
): Promise<T> {
  requireKnown('options', options, LEASED_FLAKE_NAMES);
  const { layout = layouts.jflake } = options;
  if (!(layout instanceof Layout)) refuse('layout', 'a layout from defineLayout()', layout);
  const lease = await acquireLease(store, { ...pick(options, LEASE_NAMES), layout });
  try {
    return make({ ...pick(options, GENERATOR_NAMES), layout, node: lease });
  } catch (error) {
    // If this fails, the lease expires.
    await lease.release().catch(() => undefined);
    throw error;
  }
}

/** The members of `options` with these names, as far as they are given. */
function pick<T extends object, Name extends keyof T>(options: T, names: readonly Name[]): Pick<T, Name> {
  const given = names.filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name]])) as Pick<T, Name>;
}
