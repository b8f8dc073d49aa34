import type { Clock } from '../clock.js';
import { LocalityMinter } from './minter.js';
import { type LocalityOptions, requireAttachOptions, requireHandle, type SharedLocality } from './options.js';
import { type LocalityUuid, uuidOf } from './uuid.js';

/**
 * Makes locality UUIDs.
 *
 * @example
 * const ids = new LocalityGenerator();
 * ids.next(); // '20be0ffc-314a-bd53-7a50-013a65ca76d2'
 */
export class LocalityGenerator extends LocalityMinter {
  /** @throws InvalidOptionError naming the first option that is wrong */
  constructor(options?: LocalityOptions);
  /** @internal */
  constructor(options: LocalityOptions, handle: SharedLocality);
  constructor(options: LocalityOptions = {}, handle?: SharedLocality) {
    super(options, handle);
  }

  /** The next id as a value. */
  nextUuid(): LocalityUuid {
    return uuidOf(this.next());
  }

  /**
   * A generator that counts along with the one whose `share()` gave the handle, in whatever thread that is.
   *
   * @throws InvalidOptionError when the handle is not what `share()` gave, or an option is not known
   */
  static attach(handle: SharedLocality, options: { clock?: Clock } = {}): LocalityGenerator {
    return new LocalityGenerator(requireAttachOptions(options), requireHandle(handle));
  }
}
