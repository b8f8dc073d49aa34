import { StoreError } from '../errors.js';

/**
 * Loads an optional package.
 *
 * @param name the package, as `npm install` calls it
 * @throws StoreError naming the package if it is not installed, or with the `cause` if it does not load
 *
 * @example
 * const pg = await loadPackage('pg', () => import('pg'));
 */
export async function loadPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string };
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
    // A package may be installed while one of its dependencies is not. "Install it" would be the wrong advice then.
    const isNamed = message?.includes(`'${name}'`) || message?.includes(`'${name}/`);
    if (isMissing && isNamed)
      throw new StoreError(`the package ${name} is needed and not installed: npm install ${name}`, {
        cause: error,
      });
    throw new StoreError(`the package ${name} could not be loaded: ${message}`, { cause: error });
  }
}
