import { InvalidOptionError } from '../errors.js';
import { refuse, show } from '../options.js';

/**
 * `namespace` if every store can keep it.
 *
 * @throws InvalidOptionError unless it is well-formed text of 1 to 255 characters without NUL
 */
export function requireNamespace(namespace: unknown): string {
  // Half of a surrogate pair has no UTF-8 form, so two such namespaces would become one in the store.
  const wellFormed = typeof namespace === 'string' && !/\p{Surrogate}/u.test(namespace);
  if (wellFormed && namespace.length >= 1 && namespace.length <= 255 && !namespace.includes('\0'))
    return namespace;
  refuse('namespace', 'text of 1 to 255 characters without NUL', namespace);
}

/** The namespace of the store's own record. */
export const STORE_NAMESPACE = 'idsmith/store';

/** The beginning of the names of all namespaces and sequences that `idsmith verify` makes. */
export const TRIAL = 'idsmith-verify/';

/**
 * `namespace` if it is one of `idsmith verify`. Only such a namespace may be removed: without its fences, ids of any other one
 * could come twice.
 *
 * @throws InvalidOptionError unless its name begins with {@link TRIAL}
 */
export function requireTrial(namespace: string): string {
  if (requireNamespace(namespace).startsWith(TRIAL)) return namespace;
  throw new InvalidOptionError(
    `namespace ${show(namespace)} is not one of idsmith verify, so its records are kept: without them ids could come twice`,
  );
}
