import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ShardConfig } from '@idsmith/shard';
import { InvalidOptionError, type Store } from 'idsmith';
import { type NatMap, openRedis } from 'idsmith/internal/stores';
import { openStore } from 'idsmith/stores';

/** A store under test, as every process of a run opens it for itself: a URL, or a module that exports `openStore`. */
export type StoreTarget = UrlTarget | { readonly module: string };

/** The URL of a store. */
export interface UrlTarget {
  readonly url: string;
  /** Where to reach the servers of a Redis Cluster or of Sentinels, if not where these name them. */
  readonly natMap?: NatMap;
}

/** A store, or the nodes of sharded keys. */
export type Target = StoreTarget | { readonly shards: ShardConfig };

/** @throws InvalidOptionError when the module does not export a function that opens a store */
export async function openTarget(target: StoreTarget): Promise<Store> {
  if ('url' in target) return target.natMap ? openRedis(target.url, target.natMap) : openStore(target.url);
  const open = await loadOpener(target.module);
  const store = (await open()) as Store | undefined;
  if (typeof store?.swapLease !== 'function' || typeof store.allocate !== 'function')
    throw new InvalidOptionError(
      `--store-module ${target.module}: openStore() must return a store of leases and sequences`,
    );
  return store;
}

async function loadOpener(file: string): Promise<() => unknown> {
  const loaded = await import(pathToFileURL(resolve(file)).href).catch((cause: Error) => {
    throw new InvalidOptionError(`--store-module ${file} cannot be loaded: ${cause.message}`, { cause });
  });
  const open = loaded.openStore ?? loaded.default;
  if (typeof open === 'function') return open;
  throw new InvalidOptionError(
    `--store-module ${file} must export a function openStore that returns a store`,
  );
}
