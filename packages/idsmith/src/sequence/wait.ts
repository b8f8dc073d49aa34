import { requireKnown } from '../options.js';
import { requireSignal } from '../support/abort.js';

/** Options of calls that may wait. */
export interface SequenceWait {
  /** Ends the wait. The promise then rejects with the reason of the signal, and the caller takes no id. */
  readonly signal?: AbortSignal;
}

/**
 * The signal of a call.
 *
 * @throws the reason of the signal when it is aborted already
 */
export function signalOf(options: SequenceWait | undefined): AbortSignal | undefined {
  if (options === undefined) return undefined;
  const signal = requireSignal(requireKnown('options', options, ['signal']).signal);
  signal?.throwIfAborted();
  return signal;
}

/** Waits until the process has read what has arrived at its sockets. */
export function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
