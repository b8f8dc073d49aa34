import { LeaseFencedError } from '../errors.js';
import type { Lease } from '../lease/lease.js';
import { type LeaseWait, requireWait } from '../lease/waiters.js';
import { requireKnown } from '../options.js';

/** The part of a generator that mints when its lease is active. */
interface WaitingGenerator<Id> {
  readonly lease: Lease | undefined;
  next(): Id;
}

/** The options of a wait that also ends with the generator. */
export function endingWith(options: LeaseWait, closing: AbortSignal): LeaseWait {
  const { signal } = options;
  return { ...options, signal: signal === undefined ? closing : AbortSignal.any([signal, closing]) };
}

/**
 * The next id. Waits for the lease while its window has ended.
 *
 * @param closing gives the signal that ends the wait with the generator
 * @throws the reason of either signal when it is aborted; other errors as `next()` does
 */
export async function nextWhenActive<Id>(
  generator: WaitingGenerator<Id>,
  options: { signal?: AbortSignal | undefined },
  closing: () => AbortSignal,
): Promise<Id> {
  requireKnown('options', options, ['signal']);
  const { signal } = requireWait(options);
  const { lease } = generator;
  for (;;) {
    signal?.throwIfAborted();
    try {
      return generator.next();
    } catch (error) {
      if (lease === undefined || !(error instanceof LeaseFencedError)) throw error;
    }
    const wait = endingWith(options, closing());
    // The generator may be ahead of the lease's clock. Then only the next window helps.
    if (lease.state === 'active') await lease.whenMoved(wait);
    else await lease.whenActive(wait);
  }
}
