import type { LeaseRecord, Store } from 'idsmith';
import { invalidRequest } from '../http/problem.js';
import type { Route } from '../http/route.js';
import { lease, name, record, swap } from '../http/schemas.js';
import { GuardedLeases, LARGEST_PAGE } from '../leases/guarded-leases.js';
import { guaranteesOf, storeTime } from '../leases/store-guarantees.js';

/** The schema of the store's guarantees. */
export const guarantees = {
  durable: { type: 'boolean', description: 'whether the store keeps everything that it has acknowledged' },
  maxTtl: {
    anyOf: [{ type: 'integer' }, { type: 'null' }],
    description: 'the longest ttl of a lease, ms, on a store that can forget',
  },
};

/** A page of node ids. Without it, all leases are listed. */
const page = {
  first: { type: 'integer', minimum: 0, maximum: 2 ** 31 - 1, description: 'the first node id to list' },
  count: { type: 'integer', minimum: 0, maximum: LARGEST_PAGE, description: 'how many node ids' },
};

/** Listing and swapping the leases of a namespace. */
export function leaseRoutes(store: Store): Route[] {
  const guarded = new GuardedLeases(store);
  return [
    {
      method: 'GET',
      path: '/v1/leases/{namespace}',
      summary: "List the leases of a namespace, with digests of their owners, and the store's time",
      scope: 'any',
      params: { namespace: name },
      query: page,
      response: record({
        namespace: name,
        now: { type: 'integer', description: 'Unix ms, read after the leases' },
        ...guarantees,
        leases: { type: 'array', items: lease },
        own: {
          type: 'array',
          items: lease,
          description: 'records of the namespace itself: -1 its birth, -2 its layout',
        },
      }),
      problems: [503],
      waitsForStore: true,
      async handle({ params, query }) {
        const { namespace } = params as { namespace: string };
        const { first, count } = query as { first?: number; count?: number };
        if ((first === undefined) !== (count === undefined))
          throw invalidRequest('first and count in the query must come together');
        const isPage = first !== undefined && count !== undefined;
        const records = await (isPage ? guarded.read(namespace, first, count) : guarded.list(namespace));
        const leases = records.filter(({ id }) => id >= 0);
        const own = records.filter(({ id }) => id < 0);
        return { namespace, now: await storeTime(store), ...guaranteesOf(store), leases, own };
      },
    },
    {
      method: 'POST',
      path: '/v1/leases/{namespace}/swap',
      summary:
        'Take, renew or release a lease: replace the expected record by the next one, in one atomic step',
      scope: 'lease',
      params: { namespace: name },
      body: swap,
      response: record({ swapped: { type: 'boolean' } }),
      problems: [503],
      waitsForStore: true,
      async handle({ params, body }) {
        const { namespace } = params as { namespace: string };
        const { expected, next } = body as { expected?: LeaseRecord | null; next: LeaseRecord };
        return { swapped: await guarded.swap(namespace, expected ?? undefined, next) };
      },
    },
    {
      method: 'DELETE',
      path: '/v1/leases/{namespace}',
      summary:
        'Remove the records of a namespace that idsmith verify has made; every other namespace is refused',
      scope: 'admin',
      params: { namespace: name },
      status: 204,
      problems: [503],
      waitsForStore: true,
      async handle({ params }) {
        const { namespace } = params as { namespace: string };
        if (store.removeTrial === undefined)
          throw invalidRequest('the store of this server cannot remove records');
        await store.removeTrial(namespace);
        return undefined;
      },
    },
  ];
}
