import type { LocalityMode } from 'idsmith';
import { countOf } from '../auth/guard.js';
import type { Route } from '../http/route.js';
import { count, ids, publicQuery, typeIdPrefix } from '../http/schemas.js';
import type { KeyMinter } from '../mint/key-minter.js';
import type { LeasedMinter } from '../mint/leased-minter.js';
import { asksForPublicIds, type PublicIdCodecs, type PublicQuery } from '../mint/public-id-codecs.js';
import type { TypeIdPrefixes, TypeIdQuery } from '../mint/type-id-prefixes.js';

const kindOf = (query: PublicQuery) => (asksForPublicIds(query) ? 'public' : 'plain');

/** Minting of flakes, UUIDs and sharded keys. */
export function mintRoutes(
  minter: LeasedMinter,
  keys: KeyMinter,
  publicIds: PublicIdCodecs,
  typeIds: TypeIdPrefixes,
): Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/flakes',
      summary: 'Mint flakes: 64-bit ids that sort by time',
      scope: 'mint',
      query: { count, ...publicQuery },
      response: ids,
      problems: [501, 503],
      isAscii: true,
      handle(request) {
        const query = request.query as PublicQuery;
        const count = countOf(request, kindOf(query));
        if (!asksForPublicIds(query)) return minter.flakes(count);
        return publicIds.withPublicIds(query, 'int64', count, (each) => minter.flakes(each));
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
        ...publicQuery,
      },
      response: ids,
      problems: [501, 503],
      isAscii: true,
      handle(request) {
        const query = request.query as PublicQuery & { mode: LocalityMode };
        const count = countOf(request, kindOf(query));
        if (!asksForPublicIds(query)) return minter.locality(count, query.mode);
        return publicIds.withPublicIds(query, 'uuid', count, (each) => minter.locality(each, query.mode));
      },
    },
    {
      method: 'POST',
      path: '/v1/uuid7',
      summary: 'Mint UUIDs of version 7, which increase, also as typed ids',
      scope: 'mint',
      query: { count, prefix: typeIdPrefix, ...publicQuery },
      response: ids,
      problems: [501, 503],
      isAscii: true,
      handle(request) {
        const { prefix, ...query } = request.query as TypeIdQuery;
        const count = countOf(request, prefix === undefined ? kindOf(query) : 'typed');
        const mint = (each: number) => minter.uuid7(each);
        if (prefix !== undefined) return typeIds.withTypeIds({ ...query, prefix }, count, mint);
        return asksForPublicIds(query) ? publicIds.withPublicIds(query, 'uuid', count, mint) : mint(count);
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
        return { ids: await keys.mint(type, countOf(request, 'key')) };
      },
    },
  ];
}
