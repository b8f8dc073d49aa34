import { InvalidOptionError } from '../errors.js';
import { show } from '../options.js';

/**
 * Refuses arguments that a method does not take: a callback, for example, which would never be called.
 *
 * @param call the method with the arguments that it takes
 * @param more what it was given besides; `undefined` is nothing
 * @param instead what to do about it
 * @throws InvalidOptionError naming the method, the first argument that is too many, and the way out
 */
export function refuseMore(call: string, more: readonly unknown[], instead: string): void {
  const extra = more.find((value) => value !== undefined);
  if (extra !== undefined)
    throw new InvalidOptionError(`${call} takes no further argument, such as ${show(extra)}: ${instead}`);
}
