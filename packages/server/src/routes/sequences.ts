import type { SequenceChanges, SequenceDefinition, Store } from 'idsmith';
import { countOf } from '../auth/guard.js';
import type { Route } from '../http/route.js';
import { block, changes, count, definition, ids, name, record, sequence } from '../http/schemas.js';
import { Receipts } from '../mint/block-receipts.js';
import type { Drawer } from '../mint/sequence-pool.js';
import { blockJson, blockOf, exact, sequenceJson } from './sequence-json.js';

const nameOf = ({ params }: { params: unknown }) => (params as { name: string }).name;

/** Drawing from sequences, and looking after them. */
export function sequenceRoutes(store: Store, drawer: Drawer): Route[] {
  const receipts = new Receipts();
  return [
    {
      method: 'POST',
      path: '/v1/sequences/{name}/next',
      summary: 'Draw ids of a sequence',
      scope: 'mint',
      params: { name },
      query: { count },
      answer: ids,
      problems: [404, 410, 503],
      waits: true,
      handle: (request) => drawer.draw(nameOf(request), countOf(request)),
    },
    {
      method: 'POST',
      path: '/v1/sequences/{name}/blocks',
      summary: 'Take whole blocks of a sequence, as one run of ids; fewer where fewer are left',
      scope: 'lease',
      params: { name },
      query: { count: { ...count, description: 'how many blocks' } },
      answer: block,
      problems: [404, 410, 503],
      waits: true,
      async handle(request) {
        // Those who may have fewer are given fewer, as they are where fewer are left.
        const blocks = Math.min((request.query as { count: number }).count, request.caller?.batch ?? 0);
        const name = nameOf(request);
        return blockJson(receipts.give(name, await store.allocate(name, blocks)));
      },
    },
    {
      method: 'POST',
      path: '/v1/sequences/{name}/tails',
      summary: 'Give back the unused end of a run, once, which succeeds if nobody has taken blocks since',
      scope: 'lease',
      params: { name },
      body: block,
      answer: record({ returned: { type: 'boolean' } }),
      problems: [503],
      waits: true,
      async handle(request) {
        const name = nameOf(request);
        // Used up before the store is asked: one who sends it twice at once has it back once.
        const tail = receipts.redeem(name, blockOf(request.body));
        return { returned: tail !== undefined && ((await store.giveBack?.(name, tail)) ?? false) };
      },
    },
    {
      method: 'GET',
      path: '/v1/sequences',
      summary: 'List the sequences, by name',
      scope: 'any',
      answer: record({ sequences: { type: 'array', items: sequence } }),
      problems: [503],
      waits: true,
      handle: async () => ({ sequences: (await store.listSequences()).map(sequenceJson) }),
    },
    {
      method: 'POST',
      path: '/v1/sequences',
      summary: 'Define a sequence',
      scope: 'admin',
      body: definition,
      status: 201,
      answer: sequence,
      problems: [409, 503],
      waits: true,
      async handle({ body }) {
        const wanted = exact<SequenceDefinition>(body);
        await store.defineSequence(wanted);
        // What may be at hand is of another one that had this name.
        await drawer.forget(wanted.name);
        return sequenceJson(await store.describeSequence(wanted.name));
      },
    },
    {
      method: 'GET',
      path: '/v1/sequences/{name}',
      summary: 'Describe a sequence',
      scope: 'any',
      params: { name },
      answer: sequence,
      problems: [404, 503],
      waits: true,
      handle: async (request) => sequenceJson(await store.describeSequence(nameOf(request))),
    },
    {
      method: 'PATCH',
      path: '/v1/sequences/{name}',
      summary: 'Alter a sequence; it only goes forward',
      scope: 'admin',
      params: { name },
      body: changes,
      answer: sequence,
      problems: [404, 503],
      waits: true,
      async handle(request) {
        // What is at hand goes back first, so that the next id drawn here is one after the change.
        await drawer.forget(nameOf(request));
        const wanted = exact<SequenceChanges>(request.body);
        return sequenceJson(await store.alterSequence(nameOf(request), wanted));
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
      waits: true,
      async handle(request) {
        await drawer.forget(nameOf(request));
        await store.removeSequence(nameOf(request));
        // Somebody may have drawn from it in between.
        await drawer.forget(nameOf(request));
        return undefined;
      },
    },
  ];
}
