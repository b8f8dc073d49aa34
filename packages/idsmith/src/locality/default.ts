import { LocalityMinter } from './minter.js';

let minter: LocalityMinter | undefined;

/** The process-wide generator that `new LocalityUuid()` mints from, made on first use. */
export function defaultMinter(): LocalityMinter {
  minter ??= new LocalityMinter({});
  return minter;
}
