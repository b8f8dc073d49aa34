import type { Assets } from '../http/assets.js';
import type { Route } from '../http/route.js';
import type { Services } from '../services.js';
import { leaseRoutes } from './leases.js';
import { mintRoutes } from './mint.js';
import { selfRoutes } from './openapi-and-console.js';
import { operationRoutes } from './operations.js';
import { sequenceRoutes } from './sequences.js';

/** Every route there is, in the order of the documentation. */
export function allRoutes(services: Services, assets: Assets): Route[] {
  const routes = [
    ...mintRoutes(services.mint, services.keys),
    ...sequenceRoutes(services.store, services.drawer),
    ...leaseRoutes(services.store),
    ...operationRoutes(services),
  ];
  return [...routes, ...selfRoutes(routes, services.version, assets)];
}
