import type { LocalityMode } from 'idsmith';
import { countOf } from '../auth/guard.js';
import type { Route } from '../http/route.js';
import { count, ids } from '../http/schemas.js';
import type { Keys } from '../mint/key-minter.js';
import type { Mint } from '../mint/leased-minter.js';

/** Ids of the families that need no name. */
export function mintRoutes(mint: Mint, keys: Keys): Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/flakes',
      summary: 'Mint flakes: 64-bit ids that sort by time',
      scope: 'mint',
      query: { count },
      answer: ids,
      problems: [503],
      handle: (request) => mint.flakes(countOf(request)),
    },
    {
      method: 'POST',
      path: '/v1/locality',
      summary: 'Mint locality UUIDs, spread over all shards or kept together',
      scope: 'mint',
      query: { count, mode: { type: 'string', enum: ['variable', 'sequential'], default: 'variable' } },
      answer: ids,
      problems: [503],
      handle: (request) => mint.locality(countOf(request), (request.query as { mode: LocalityMode }).mode),
    },
    {
      method: 'POST',
      path: '/v1/keys',
      summary: 'Mint sharded keys of a type',
      scope: 'mint',
      query: {
        count,
        type: {
          anyOf: [
            { type: 'string', minLength: 1, maxLength: 255 },
            { type: 'integer', minimum: 0, maximum: 3843 },
          ],
          description: 'a name or number of the config',
        },
      },
      answer: ids,
      problems: [501, 503],
      waits: true,
      async handle(request) {
        const { type } = request.query as { type?: string | number };
        return { ids: await keys.mint(type, countOf(request)) };
      },
    },
  ];
}
