import type { Clock } from '../clock.js';
import type { Lease } from '../lease/lease.js';
import { bindLease } from '../lease/window.js';
import { isA, refuse, requireKnown } from '../options.js';
import type { RandomSource } from '../random.js';
import { SHARED_BYTES } from './shared-position.js';

/** The options of a `Uuid7Generator`. */
export interface Uuid7Options {
  /** Default the machine's clock. */
  clock?: Clock;
  /** Default the runtime's cryptographic source. */
  random?: RandomSource;
  /** A lease, whose node id goes into the last 16 bits of ids: then ids are unique whatever the random source gives. */
  node?: Lease;
}

/**
 * The handle from `share()` for `attach()`: shared memory. Post it to worker threads, for example as `workerData`.
 */
export interface SharedUuid7 {
  /** The millisecond and the place in it that the threads have reached. */
  readonly position: SharedArrayBuffer;
}

/** @throws InvalidOptionError naming the first option that is not known, or a node that is not a lease */
export function requireOptions(options: Uuid7Options): Uuid7Options {
  const { node } = requireKnown('options', options, ['clock', 'random', 'node']);
  if (node !== undefined && typeof node?.[bindLease] !== 'function')
    refuse('node', 'a lease from acquireLease()', node);
  return options;
}

/** @throws InvalidOptionError naming the first unknown option of `attach()` */
export function requireAttachOptions(options: Omit<Uuid7Options, 'node'>): Omit<Uuid7Options, 'node'> {
  return requireKnown('options', options, ['clock', 'random']);
}

/** @throws InvalidOptionError when the handle is not from `share()` */
export function requireHandle(handle: SharedUuid7): SharedUuid7 {
  if (typeof handle !== 'object' || handle === null) refuse('handle', 'a handle from share()', handle);
  const { position } = requireKnown('handle', handle, ['position']);
  if (!isA('SharedArrayBuffer', position) || position.byteLength !== SHARED_BYTES)
    refuse('handle.position', `shared memory of ${SHARED_BYTES} bytes`, position);
  return { position };
}
