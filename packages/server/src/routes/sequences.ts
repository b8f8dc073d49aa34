import type { SequenceChanges, SequenceDefinition, SequenceInfo, Store } from 'idsmith';
import { countOf } from '../auth/guard.js';
import type { Route, Schema } from '../http/route.js';
import {
  block,
  changes,
  count,
  definition,
  ids,
  name,
  publicQuery,
  record,
  sequence,
} from '../http/schemas.js';
import { BlockReceipts } from '../mint/block-receipts.js';
import type { PublicIdCodecs, PublicQuery } from '../mint/public-id-codecs.js';
import type { SequencePool } from '../mint/sequence-pool.js';
import { blockFromJson, blockToJson, sequenceFromJson, sequenceToJson } from './sequence-json.js';
import { type PageQuery, pageOf, SORTS } from './sequence-page.js';

const nameOf = ({ params }: { params: unknown }) => (params as { name: string }).name;

/** The most sequences of a page. */
const MAX_PAGE = 1000;

const listQuery: Record<string, Schema> = {
  q: {
    anyOf: [{ type: 'string', maxLength: 255 }, { type: 'integer' }],
    description: 'only sequences whose names contain this text, in any case',
  },
  sort: {
    ...{ type: 'string', enum: SORTS, default: 'name' },
    description: 'the field to sort by; with - in front, the largest first',
  },
  limit: { type: 'integer', minimum: 1, maximum: MAX_PAGE, description: 'the most of one page; default all' },
  cursor: { type: 'string', maxLength: 4096, description: 'the cursor of the page before' },
};

/** Drawing from sequences, and managing them. */
export function sequenceRoutes(store: Store, pool: SequencePool, publicIds: PublicIdCodecs): Route[] {
  const receipts = new BlockReceipts();
  const { handedOut } = pool;
  const toJson = (info: SequenceInfo) => sequenceToJson(info, handedOut);
  return [
    {
      method: 'POST',
      path: '/v1/sequences/{name}/next',
      summary: 'Draw ids of a sequence',
      scope: 'mint',
      params: { name },
      query: { count, ...publicQuery },
      response: ids,
      problems: [404, 410, 501, 503],
      waitsForStore: true,
      isAscii: true,
      handle(request) {
        const name = nameOf(request);
        const query = request.query as PublicQuery;
        const isNatural = publicIds.refusesNegatives(query.public);
        const next = (count: number) => (isNatural ? pool.nextNatural(name, count) : pool.next(name, count));
        return publicIds.mint(query, 'int64', countOf(request), next);
      },
    },
    {
      method: 'POST',
      path: '/v1/sequences/{name}/blocks',
      summary: 'Take whole blocks of a sequence, as one run of ids; fewer where fewer are left',
      scope: 'lease',
      params: { name },
      query: { count: { ...count, description: 'how many blocks' } },
      response: block,
      problems: [404, 410, 503],
      waitsForStore: true,
      async handle(request) {
        // A token with a smaller batch gets fewer blocks, just as when fewer blocks are left.
        const blocks = Math.min((request.query as { count: number }).count, request.caller?.batch ?? 0);
        const name = nameOf(request);
        const run = await store.allocate(name, blocks);
        handedOut.of(name).count += run.count;
        return blockToJson(receipts.issue(name, run));
      },
    },
    {
      method: 'POST',
      path: '/v1/sequences/{name}/tails',
      summary: 'Return the unused end of a run, once; succeeds if nobody has taken blocks since',
      scope: 'lease',
      params: { name },
      body: block,
      response: record({ returned: { type: 'boolean' } }),
      problems: [503],
      waitsForStore: true,
      async handle(request) {
        const name = nameOf(request);
        // The receipt is used up before the store is asked, so that two equal requests at once return the run once.
        const tail = receipts.redeem(name, blockFromJson(request.body));
        return { returned: tail !== undefined && ((await store.giveBack?.(name, tail)) ?? false) };
      },
    },
    {
      method: 'GET',
      path: '/v1/sequences',
      summary: 'List the sequences: all, or a page of those that are searched for',
      scope: 'any',
      query: listQuery,
      response: record({
        sequences: { type: 'array', items: sequence },
        total: { type: 'integer', description: 'how many there are on all pages' },
        cursor: {
          anyOf: [{ type: 'string' }, { type: 'null' }],
          description: 'the cursor of the next page; null on the last page',
        },
      }),
      problems: [503],
      waitsForStore: true,
      hasEtag: true,
      async handle({ query }) {
        const all = await store.listSequences();
        const listed = all.map((info) => ({ ...info, handedOut: handedOut.read(info.name) }));
        const page = pageOf(listed, query as PageQuery);
        return { ...page, sequences: page.sequences.map(toJson) };
      },
    },
    {
      method: 'POST',
      path: '/v1/sequences',
      summary: 'Define a sequence',
      scope: 'admin',
      body: definition,
      status: 201,
      response: sequence,
      problems: [409, 503],
      waitsForStore: true,
      async handle({ body }) {
        const wanted = sequenceFromJson<SequenceDefinition>(body);
        await store.defineSequence(wanted);
        // The pool may hold blocks of a removed sequence with the same name.
        await pool.closeSequence(wanted.name);
        return toJson(await store.describeSequence(wanted.name));
      },
    },
    {
      method: 'GET',
      path: '/v1/sequences/{name}',
      summary: 'Describe a sequence',
      scope: 'any',
      params: { name },
      response: sequence,
      problems: [404, 503],
      waitsForStore: true,
      handle: async (request) => toJson(await store.describeSequence(nameOf(request))),
    },
    {
      method: 'PATCH',
      path: '/v1/sequences/{name}',
      summary: 'Alter a sequence; its next id can only move forward',
      scope: 'admin',
      params: { name },
      body: changes,
      response: sequence,
      problems: [404, 503],
      waitsForStore: true,
      async handle(request) {
        // Unused ids go back first, so that the next id drawn here comes after the change.
        await pool.closeSequence(nameOf(request));
        const wanted = sequenceFromJson<SequenceChanges>(request.body);
        return toJson(await store.alterSequence(nameOf(request), wanted));
      },
    },
    {
      method: 'DELETE',
      path: '/v1/sequences/{name}',
      summary: 'Remove a sequence',
      scope: 'admin',
      params: { name },
      status: 204,
      problems: [404, 503],
      waitsForStore: true,
      async handle(request) {
        await pool.closeSequence(nameOf(request));
        await store.removeSequence(nameOf(request));
        // Another request may have opened the sequence in between.
        await pool.forgetSequence(nameOf(request));
        return undefined;
      },
    },
  ];
}
