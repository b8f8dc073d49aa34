import type { LeaseRecord, Store } from 'idsmith';
import type { Route } from '../http/route.js';
import { lease, name, record, swap } from '../http/schemas.js';
import { GuardedLeases, timeOf, trustIn } from '../leases/guarded-leases.js';

/** What callers must know of the store, in answers. */
export const trust = {
  durable: { type: 'boolean', description: 'whether it keeps what it has acknowledged' },
  maxTtl: {
    anyOf: [{ type: 'integer' }, { type: 'null' }],
    description: 'the longest ttl of a lease, ms, on a store that can forget',
  },
};

/** The leases of a namespace, to be looked at and to be taken. */
export function leaseRoutes(store: Store): Route[] {
  const guarded = new GuardedLeases(store);
  return [
    {
      method: 'GET',
      path: '/v1/leases/{namespace}',
      summary: "List the leases of a namespace, with digests of their owners, and the store's time",
      scope: 'any',
      params: { namespace: name },
      answer: record({
        namespace: name,
        now: { type: 'integer', description: 'Unix ms, read after the leases' },
        ...trust,
        leases: { type: 'array', items: lease },
      }),
      problems: [503],
      waits: true,
      async handle({ params }) {
        const { namespace } = params as { namespace: string };
        const leases = await guarded.list(namespace);
        return { namespace, now: await timeOf(store), ...trustIn(store), leases };
      },
    },
    {
      method: 'POST',
      path: '/v1/leases/{namespace}/swap',
      summary:
        'Take, renew or release a lease: put it in the place of the one that is expected, in one atomic step',
      scope: 'lease',
      params: { namespace: name },
      body: swap,
      answer: record({ swapped: { type: 'boolean' } }),
      problems: [503],
      waits: true,
      async handle({ params, body }) {
        const { namespace } = params as { namespace: string };
        const { expected, next } = body as { expected?: LeaseRecord | null; next: LeaseRecord };
        return { swapped: await guarded.swap(namespace, expected ?? undefined, next) };
      },
    },
  ];
}
