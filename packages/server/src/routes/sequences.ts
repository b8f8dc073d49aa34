import type { Block, SequenceChanges, SequenceDefinition, SequenceInfo, Store } from 'idsmith';
import { isCounter, requireNoCounter, supplyOf } from 'idsmith/internal';
import { countOf } from '../auth/guard.js';
import type { Listing, SequenceWatch } from '../history/sequence-watch.js';
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
import { asksForPublicIds, type PublicIdCodecs, type PublicQuery } from '../mint/public-id-codecs.js';
import type { HandedOut, SequencePool } from '../mint/sequence-pool.js';
import type { Audit } from '../ops/audit.js';
import { orderOf, type PageQuery, pageOf, SORTS } from './sequence-page.js';

const nameOf = ({ params }: { params: unknown }) => (params as { name: string }).name;

/** The name of a sequence that is no counter of a series: numbers of invoices must not be skipped or come again. */
const sequenceOf = (request: { params: unknown }) =>
  requireNoCounter(
    nameOf(request),
    'GET /v1/series shows the series, POST /v1/series/{name}/next prints numbers',
  );

/** The most sequences of a page. */
const MAX_PAGE = 1000;

const listQuery: Record<string, Schema> = {
  q: {
    anyOf: [{ type: 'string', maxLength: 255 }, { type: 'integer' }],
    description: 'only sequences whose names contain this text, in any case',
  },
  sort: {
    type: 'string',
    enum: SORTS,
    default: 'name',
    description: 'the field to sort by; with - in front, the largest first',
  },
  limit: { type: 'integer', minimum: 1, maximum: MAX_PAGE, description: 'the most of one page; default all' },
  cursor: { type: 'string', maxLength: 4096, description: 'the cursor of the page before' },
};

/** Drawing from sequences, and managing them. */
export function sequenceRoutes(
  store: Store,
  pool: SequencePool,
  publicIds: PublicIdCodecs,
  audit: Audit,
  watch: SequenceWatch,
): Route[] {
  const receipts = new BlockReceipts();
  const { handedOut } = pool;
  const toJson = (info: SequenceInfo) => ({
    ...sequenceToJson(info, handedOut),
    forecast: watch.forecastOf(info) ?? null,
  });
  const listedOf = (listing: Listing) =>
    listing.once('listed', () =>
      listing.all
        .filter(({ name }) => !isCounter(name))
        .map((info) => ({
          ...info,
          handedOut: handedOut.read(info.name),
          runOut: watch.forecastOf(info)?.seconds ?? Number.MAX_SAFE_INTEGER,
        })),
    );
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
        const name = sequenceOf(request);
        const query = request.query as PublicQuery;
        const count = countOf(request, asksForPublicIds(query) ? 'public' : 'plain');
        if (!asksForPublicIds(query)) return pool.next(name, count);
        const isNatural = publicIds.refusesNegatives(query.public ?? '');
        return publicIds.withPublicIds(query, 'int64', count, (each) =>
          isNatural ? pool.nextNatural(name, each) : pool.next(name, each),
        );
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
        const run = await store.allocate(name, blocks).catch((error: unknown) => {
          pool.refused(name, error);
          throw error;
        });
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
        const listing = await watch.listing();
        const { q, sort, limit, cursor } = query as PageQuery;
        return listing.once(JSON.stringify(['page', q, sort, limit, cursor]), () => {
          const ordered = listing.once(JSON.stringify(['order', q, sort]), () =>
            orderOf(listedOf(listing), query as PageQuery),
          );
          const page = pageOf(ordered, query as PageQuery);
          return JSON.stringify({ ...page, sequences: page.sequences.map(toJson) });
        });
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
      async handle(request) {
        const wanted = sequenceFromJson<SequenceDefinition>(request.body);
        await store.defineSequence(wanted);
        // The pool may hold blocks of a removed sequence with the same name.
        await pool.closeSequence(wanted.name);
        const defined = await store.describeSequence(wanted.name);
        watch.changed();
        audit.add(request, 'define', wanted.name, null, definitionToJson(defined));
        return toJson(defined);
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
        const wanted = sequenceFromJson<SequenceChanges>(request.body);
        // A series in a program that uses this server as its store widens its counters, and moves them on after a loss.
        if (Object.keys(wanted).some((key) => key !== 'max' && key !== 'next')) sequenceOf(request);
        // Unused ids go back first, so that the next id drawn here comes after the change.
        await pool.closeSequence(nameOf(request));
        const before = definitionToJson(await store.describeSequence(nameOf(request)));
        const altered = await store.alterSequence(nameOf(request), wanted);
        watch.changed();
        audit.add(request, 'alter', altered.name, before, definitionToJson(altered));
        return toJson(altered);
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
        await pool.closeSequence(sequenceOf(request));
        const before = await store.describeSequence(nameOf(request));
        await store.removeSequence(nameOf(request));
        watch.changed();
        audit.add(request, 'remove', before.name, definitionToJson(before), null);
        // Another request may have opened the sequence in between.
        await pool.forgetSequence(nameOf(request));
        return undefined;
      },
    },
  ];
}

// Sequences and blocks as JSON. 64-bit numbers are decimal strings there.

/** @param handedOut the ids that this server has handed out of its sequences */
function sequenceToJson(info: SequenceInfo, handedOut: HandedOut): object {
  const { name } = info;
  return {
    name,
    ...definitionToJson(info),
    ...supplyToJson(info),
    handedOut: handedOut.read(name),
    since: handedOut.since,
  };
}

/** The definition and the place of a sequence, as audits and responses have them. */
function definitionToJson(info: SequenceInfo): Record<string, unknown> {
  const { start, next, blockSize, step, min, max, cycle, exhausted } = info;
  return {
    start: start === undefined ? null : String(start),
    next: String(next),
    blockSize,
    step,
    min: String(min),
    max: String(max),
    cycle,
    exhausted,
  };
}

/** The ids that nobody has taken yet; `null` for a cycle, which never ends. */
function supplyToJson(info: SequenceInfo): object {
  const { remaining, stranded = 0n } = supplyOf(info) ?? {};
  return { remaining: remaining === undefined ? null : String(remaining), stranded: String(stranded) };
}

function blockToJson({ first, step, count, origin }: Block): object {
  return { first: String(first), step, count, ...(origin !== undefined && { origin }) };
}

/** Reads a block from a validated body. */
function blockFromJson(body: unknown): Block {
  const block = body as Omit<Block, 'first'> & { first: string };
  return { ...block, first: BigInt(block.first) };
}

/** Reads the options of a sequence from a validated body. */
function sequenceFromJson<T extends SequenceDefinition | SequenceChanges>(body: unknown): T {
  const options = { ...(body as Record<string, unknown>) };
  for (const key of ['start', 'next', 'min', 'max'])
    if (typeof options[key] === 'string') options[key] = BigInt(options[key]);
  return options as unknown as T;
}
