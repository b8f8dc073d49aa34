import { StoreError } from '../errors.js';
import { isMissing, packageError } from '../support/load-package.js';

/** A driver of Redis that is installed: the name of its package, and the package. */
export type RedisDriver =
  | { readonly name: 'redis'; readonly redis: typeof import('redis') }
  | { readonly name: 'ioredis'; readonly ioredis: Pick<typeof import('ioredis'), 'Redis' | 'Cluster'> };

/**
 * Loads the package `redis`, or `ioredis` where `redis` is not installed.
 *
 * @throws StoreError naming both packages if neither is installed, or the one that does not load
 */
export async function loadRedisDriver(): Promise<RedisDriver> {
  try {
    return { name: 'redis', redis: await import('redis') };
  } catch (error) {
    if (!isMissing('redis', error)) throw packageError('redis', error);
  }
  try {
    return { name: 'ioredis', ioredis: await import('ioredis') };
  } catch (error) {
    if (!isMissing('ioredis', error)) throw packageError('ioredis', error);
    throw new StoreError(
      'the package redis or the package ioredis is needed, and neither is installed: npm install redis',
      { cause: error, reason: 'PACKAGE_MISSING' },
    );
  }
}
