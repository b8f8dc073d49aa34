import { InvalidOptionError } from '../errors.js';
import { show } from '../options.js';

/**
 * Refuses arguments that a method does not take, for example a callback that would never be called.
 *
 * @param call the method with the arguments that it takes, as the error shows it
 * @param extra the surplus arguments; `undefined` among them is allowed
 * @param advice the sentence that tells the caller what to do instead
 * @throws InvalidOptionError naming the method, the first surplus argument and the advice
 */
export function refuseExtraArguments(call: string, extra: readonly unknown[], advice: string): void {
  const surplus = extra.find((value) => value !== undefined);
  if (surplus !== undefined)
    throw new InvalidOptionError(`${call} takes no further argument, but got ${show(surplus)}: ${advice}`);
}
