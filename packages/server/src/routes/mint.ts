import type { LocalityMode } from 'idsmith';
import { countOf } from '../auth/guard.js';
import type { Route } from '../http/route.js';
import { count, ids, publicPrefix } from '../http/schemas.js';
import type { KeyMinter } from '../mint/key-minter.js';
import type { LeasedMinter } from '../mint/leased-minter.js';
import type { PublicIdCodecs } from '../mint/public-id-codecs.js';

/** Minting of flakes, locality UUIDs and sharded keys. */
export function mintRoutes(minter: LeasedMinter, keys: KeyMinter, publicIds: PublicIdCodecs): Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/flakes',
      summary: 'Mint flakes: 64-bit ids that sort by time',
      scope: 'mint',
      query: { count, public: publicPrefix },
      response: ids,
      problems: [501, 503],
      isAscii: true,
      handle(request) {
        const { public: prefix } = request.query as { public?: string };
        return publicIds.mint(prefix, 'int64', countOf(request), (count) => minter.flakes(count));
      },
    },
    {
      method: 'POST',
      path: '/v1/locality',
      summary: 'Mint locality UUIDs, spread over all shards or kept together',
      scope: 'mint',
      query: {
        count,
        mode: { type: 'string', enum: ['variable', 'sequential'], default: 'variable' },
        public: publicPrefix,
      },
      response: ids,
      problems: [501, 503],
      isAscii: true,
      handle(request) {
        const { mode, public: prefix } = request.query as { mode: LocalityMode; public?: string };
        return publicIds.mint(prefix, 'uuid', countOf(request), (count) => minter.locality(count, mode));
      },
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
          description: 'the name or number of a key type of the config',
        },
      },
      response: ids,
      problems: [501, 503],
      waitsForStore: true,
      async handle(request) {
        const { type } = request.query as { type?: string | number };
        return { ids: await keys.mint(type, countOf(request)) };
      },
    },
  ];
}
