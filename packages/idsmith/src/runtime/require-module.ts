// The import '#require' of modules. A CommonJS transform, as of Jest, gets require-commonjs.js instead: `import.meta` is no CommonJS.

import { createRequire } from 'node:module';

/** A `require` that finds packages as this package does; `undefined` in a bundle without an address of its own. */
export function ownRequire(): ((name: string) => unknown) | undefined {
  // A bundle in CommonJS has a `require` and no address of its own.
  return import.meta.url === undefined ? undefined : createRequire(import.meta.url);
}
