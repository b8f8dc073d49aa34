import { InvalidOptionError } from '../errors.js';
import { isA, refuse } from '../options.js';

// What `share()` and `attach()` of the families have in common.
//
// Most programs share no generator. So the class of a family does not import the code behind the two methods, or each bundle with the
// class would carry it. The module with that code gives it to the class when it is loaded. Where nothing is bundled this is always so:
// the two modules are in one chunk.

/**
 * The code behind `share()` and `attach()`.
 *
 * @throws InvalidOptionError when a bundler has left the code out
 */
export function requireThreads<T>(code: T | undefined): T {
  if (code !== undefined) return code;
  throw new InvalidOptionError('in a bundle, share() and attach() need a call of enableThreads()');
}

/** @throws InvalidOptionError when the runtime has no shared memory */
export function requireSharedMemory(): void {
  if (typeof SharedArrayBuffer !== 'undefined') return;
  throw new InvalidOptionError(
    'share() needs SharedArrayBuffer, which this runtime does not have; in a browser, serve the page cross-origin isolated',
  );
}

/** @throws InvalidOptionError when the generator has a lease, which drives one generator only */
export function requireNoLease(isLeased: boolean): void {
  if (!isLeased) return;
  throw new InvalidOptionError(
    'share() does not work on a generator with a lease; give each thread a lease of its own',
  );
}

/** @throws InvalidOptionError unless a part of a handle is shared memory of this size */
export function requireMemory(option: string, memory: SharedArrayBuffer, bytes: number): void {
  if (isA('SharedArrayBuffer', memory) && memory.byteLength === bytes) return;
  refuse(option, `shared memory of ${bytes} bytes`, memory);
}
