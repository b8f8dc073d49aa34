import { LocalityMinter } from './minter.js';

let minter: LocalityMinter | undefined;

/** The process-wide default generator, which `new LocalityUuid()` uses. Made on first use. */
export function defaultMinter(): LocalityMinter {
  minter ??= new LocalityMinter({});
  return minter;
}
