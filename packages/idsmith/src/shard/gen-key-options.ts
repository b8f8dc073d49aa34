import { requireKnown } from '../options.js';
import { requireSignal } from '../support/abort.js';
import { refuseExtraArguments } from './extra-arguments.js';

/** The options of `genKey` and `genKeys`. */
export interface GenKeyOptions {
  /** Ends the call early, with the reason of the signal. Keys that were reserved for the call are never used. */
  readonly signal?: AbortSignal;
}

/**
 * The signal in the options of a call.
 *
 * @param call the method with its arguments, as errors show it
 * @throws InvalidOptionError when there are other options, a callback or further arguments
 */
export function readSignal(
  call: string,
  options: GenKeyOptions | undefined,
  extra: readonly unknown[],
  advice: string,
): AbortSignal | undefined {
  if (options !== undefined && (typeof options !== 'object' || options === null)) extra = [options];
  refuseExtraArguments(call, extra, advice);
  return options === undefined ? undefined : requireSignal(requireKnown(call, options, ['signal']).signal);
}
