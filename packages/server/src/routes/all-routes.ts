import type { Store } from 'idsmith';
import type { Assets } from '../http/assets.js';
import type { Route } from '../http/route.js';
import type { Namespaces } from '../leases/namespaces.js';
import type { KeyMinter } from '../mint/key-minter.js';
import type { SequencePool } from '../mint/sequence-pool.js';
import { type HistoryParts, historyRoutes } from './history.js';
import { leaseRoutes } from './leases.js';
import { mintRoutes } from './mint.js';
import { openApiAndConsoleRoutes } from './openapi-and-console.js';
import { type OperationParts, operationRoutes } from './operations.js';
import { ringRoutes } from './ring.js';
import { sequenceRoutes } from './sequences.js';
import { seriesRoutes } from './series.js';

/** The parts of the server that routes use. */
export interface RouteParts extends OperationParts, HistoryParts {
  readonly store: Store;
  readonly keys: KeyMinter;
  readonly sequences: SequencePool;
  readonly namespaces: Namespaces;
}

/** Every route, in the order of the documentation. */
export function allRoutes(parts: RouteParts, assets: Assets): Route[] {
  const { store, minter, keys, sequences, series, publicIds, typeIds } = parts;
  const { namespaces, audit, watch, version } = parts;
  const routes = [
    ...mintRoutes(minter, keys, publicIds, typeIds),
    ...sequenceRoutes(store, sequences, publicIds, audit, watch),
    ...seriesRoutes(series, watch, parts.metrics, audit),
    ...leaseRoutes(store, namespaces, audit, parts.settings),
    ...ringRoutes(keys),
    ...historyRoutes(parts),
    ...operationRoutes(parts),
  ];
  return [...routes, ...openApiAndConsoleRoutes(routes, version, assets)];
}
