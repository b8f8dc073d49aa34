import type { SequenceChanges, SequenceDefinition, Store } from 'idsmith';
import { countOf } from '../auth/guard.js';
import type { Route } from '../http/route.js';
import { block, changes, count, definition, ids, name, record, sequence } from '../http/schemas.js';
import { BlockReceipts } from '../mint/block-receipts.js';
import type { SequencePool } from '../mint/sequence-pool.js';
import { blockFromJson, blockToJson, sequenceFromJson, sequenceToJson } from './sequence-json.js';

const nameOf = ({ params }: { params: unknown }) => (params as { name: string }).name;

/** Drawing from sequences, and managing them. */
export function sequenceRoutes(store: Store, pool: SequencePool): Route[] {
  const receipts = new BlockReceipts();
  return [
    {
      method: 'POST',
      path: '/v1/sequences/{name}/next',
      summary: 'Draw ids of a sequence',
      scope: 'mint',
      params: { name },
      query: { count },
      response: ids,
      problems: [404, 410, 503],
      waitsForStore: true,
      handle: (request) => pool.next(nameOf(request), countOf(request)),
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
        return blockToJson(receipts.issue(name, await store.allocate(name, blocks)));
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
      summary: 'List the sequences, by name',
      scope: 'any',
      response: record({ sequences: { type: 'array', items: sequence } }),
      problems: [503],
      waitsForStore: true,
      handle: async () => ({ sequences: (await store.listSequences()).map(sequenceToJson) }),
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
        return sequenceToJson(await store.describeSequence(wanted.name));
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
      handle: async (request) => sequenceToJson(await store.describeSequence(nameOf(request))),
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
        return sequenceToJson(await store.alterSequence(nameOf(request), wanted));
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
        await pool.closeSequence(nameOf(request));
        return undefined;
      },
    },
  ];
}
