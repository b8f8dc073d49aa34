import type { LeaseRecord, Store } from 'idsmith';
import { invalid } from '../problem.js';
import type { Route } from '../route.js';
import { lease, name, record, swap } from '../schemas.js';

/** What a store that can forget allows if it names no longest ttl, ms. */
const DEFAULT_MAX_TTL = 60_000;

/** A window of a second is given whatever the ttl. */
const SHORTEST = 1000;

/** What callers must know of the store to be as careful as if they had it at hand. */
export const trust = {
  durable: { type: 'boolean', description: 'whether it keeps what it has acknowledged' },
  maxTtl: {
    anyOf: [{ type: 'integer' }, { type: 'null' }],
    description: 'the longest ttl of a lease, ms, on a store that can forget',
  },
};

export function trustIn(store: Store): { durable: boolean; maxTtl: number | null } {
  const durable = store.durable !== false;
  return { durable, maxTtl: durable ? null : (store.maxTtl ?? DEFAULT_MAX_TTL) };
}

/** The store's clock, or this machine's where it has none. */
export async function timeOf(store: Store): Promise<number> {
  return (await store.now?.()) ?? Date.now();
}

/** The leases of a namespace, to be looked at and to be taken. */
export function leaseRoutes(store: Store): Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/leases/{namespace}',
      summary: "List the leases of a namespace, and the store's time",
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
        const leases = await store.listLeases(namespace);
        return { namespace, now: await timeOf(store), ...trustIn(store), leases };
      },
    },
    {
      method: 'POST',
      path: '/v1/leases/{namespace}/swap',
      summary: 'Put a lease in the place of the one that is expected, in one atomic step',
      scope: 'lease',
      params: { namespace: name },
      body: swap,
      answer: record({ swapped: { type: 'boolean' } }),
      problems: [503],
      waits: true,
      async handle({ params, body }) {
        const { namespace } = params as { namespace: string };
        const { expected, next } = body as { expected?: LeaseRecord | null; next: LeaseRecord };
        const danger = expected ? dangerOf(expected, next) : undefined;
        if (danger !== undefined) {
          const isThere = (await store.listLeases(namespace)).some((each) => isSame(each, expected!));
          if (!isThere) return { swapped: false };
          throw invalid(danger);
        }
        if (store.durable === false) await requireCareful(store, next);
        return { swapped: await store.swapLease(namespace, expected ?? undefined, next) };
      },
    },
  ];
}

/** What no lease ever does, for it would let two holders mint the same ids. */
function dangerOf(expected: LeaseRecord, next: LeaseRecord): string | undefined {
  if (expected.id !== next.id) return `expected.id must be next.id, which is ${next.id}, not ${expected.id}`;
  if (next.epoch < expected.epoch) return `next.epoch must be ${expected.epoch} or more, not ${next.epoch}`;
  // The fence of the namespace's own record is a date that comes after "not yet".
  if (next.id >= 0 && next.owner !== null && next.fence < expected.fence)
    return `next.fence must be ${expected.fence} or more, unless the lease is released, not ${next.fence}`;
  return undefined;
}

const isSame = (a: LeaseRecord, b: LeaseRecord) =>
  (['id', 'owner', 'epoch', 'fence', 'expiresAt'] as const).every((field) => a[field] === b[field]);

/** Holds callers to the rules of a store that can forget, though they may not have known of it yet. */
async function requireCareful(store: Store, { id, owner, fence, expiresAt }: LeaseRecord): Promise<void> {
  const maxTtl = store.maxTtl ?? DEFAULT_MAX_TTL;
  const now = await timeOf(store);
  // Those who hold a lease hold it until its fence.
  const isHeld = id >= 0 && owner !== null && expiresAt === fence;
  if (isHeld && fence > now + Math.max(maxTtl, SHORTEST))
    throw invalid(`ttl must be ${maxTtl} at most on this store, which can forget`);
  if (id < 0 && fence < now + maxTtl)
    throw invalid(`the namespace must begin at least ${maxTtl} ms from now on this store, which can forget`);
}
