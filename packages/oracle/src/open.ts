import { InvalidOptionError, packageError } from 'idsmith/internal';
import { addressOf, type DisposableStore, requireServerUrl } from 'idsmith/internal/stores';
import { storeOn } from './store.js';

/**
 * The store of a URL like `oracle://user:password@host:1521/service`, with a pool of its own that `close()` ends. `openStore` of
 * `idsmith/stores` calls it.
 *
 * @throws InvalidOptionError when the URL cannot be parsed, or has settings
 * @throws StoreError when `oracledb` is not installed
 */
export async function openOracle(url: string): Promise<DisposableStore> {
  const { hostname, port, pathname, username, password, searchParams } = new URL(requireServerUrl(url));
  if (searchParams.size > 0)
    throw new InvalidOptionError(
      'an oracle: URL has nothing after a ?: give oracleStore(pool) a pool with other settings',
    );
  const { default: oracledb } = await loadDriver();
  const pool = await oracledb.createPool({
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    connectString: `${hostname}:${port || 1521}${pathname}`,
    // The first call of the store opens the first connection.
    poolMin: 0,
  });
  // Connections that are in use are given up: calls that are under way fail.
  return storeOn(pool, {}, { at: addressOf(url, 1521), end: () => pool.close(0) });
}

async function loadDriver() {
  try {
    return await import('oracledb');
  } catch (error) {
    throw packageError('oracledb', error);
  }
}
