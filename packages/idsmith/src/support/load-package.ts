import { StoreError } from '../errors.js';

/**
 * Loads an optional package.
 *
 * @param name the package, as `npm install` calls it
 * @throws StoreError naming the package if it is not installed, or with the `cause` if it does not load
 *
 * @example
 * const server = await loadPackage('@idsmith/server', () => import(url));
 */
export async function loadPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw packageError(name, error);
  }
}

/**
 * The error for a package that did not load: the package is not installed, or is broken.
 *
 * Drivers are imported inside a `try`. A bundler resolves imports when it builds: it fails on a package that is not installed,
 * but leaves an import inside a `try` to the time of running.
 *
 * @example
 * try {
 *   return await import('pg');
 * } catch (error) {
 *   throw packageError('pg', error);
 * }
 */
export function packageError(name: string, error: unknown): StoreError {
  const { message = String(error) } = (error ?? {}) as { message?: string };
  // Bundlers give a module no require(), and most drivers call it.
  const hint = message.startsWith('Dynamic require of')
    ? `; bundle with --format=cjs, or define require() with createRequire() in a banner`
    : '';
  const isAbsent = isMissing(name, error);
  const problem = isAbsent
    ? `is needed and not installed: npm install ${name}`
    : `could not be loaded: ${message}${hint}`;
  return new StoreError(`the package ${name} ${problem}`, {
    cause: error,
    reason: isAbsent ? 'PACKAGE_MISSING' : undefined,
  });
}

/** True if the package itself is not installed. A package may be installed while one of its dependencies is not. */
export function isMissing(name: string, error: unknown): boolean {
  const { code, message = '' } = (error ?? {}) as { code?: unknown; message?: string };
  const isNotFound = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
  return isNotFound && (message.includes(`'${name}'`) || message.includes(`'${name}/`));
}
