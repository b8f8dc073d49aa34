import { refuse } from '../options.js';

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
