import type { Store } from 'idsmith';
import type { Assets } from '../http/assets.js';
import type { Route } from '../http/route.js';
import type { KeyMinter } from '../mint/key-minter.js';
import type { SequencePool } from '../mint/sequence-pool.js';
import { leaseRoutes } from './leases.js';
import { mintRoutes } from './mint.js';
import { openApiAndConsoleRoutes } from './openapi-and-console.js';
import { type OperationParts, operationRoutes } from './operations.js';
import { sequenceRoutes } from './sequences.js';

/** The parts of the server that routes use. */
export interface RouteParts extends OperationParts {
  readonly store: Store;
  readonly keys: KeyMinter;
  readonly sequences: SequencePool;
}

/** Every route, in the order of the documentation. */
export function allRoutes(parts: RouteParts, assets: Assets): Route[] {
  const { store, minter, keys, sequences, publicIds, version } = parts;
  const routes = [
    ...mintRoutes(minter, keys, publicIds),
    ...sequenceRoutes(store, sequences, publicIds),
    ...leaseRoutes(store),
    ...operationRoutes(parts),
  ];
  return [...routes, ...openApiAndConsoleRoutes(routes, version, assets)];
}
