import type { FastifyRequest } from 'fastify';
import { type LeaseRecord, layouts, type Store } from 'idsmith';
import { summarise } from 'idsmith/internal';
import { SETTINGS, type Settings } from '../config/settings.js';
import { invalidRequest } from '../http/problem.js';
import { isAdmin, type Route, type Schema } from '../http/route.js';
import { claim, lease, name, record, swap } from '../http/schemas.js';
import { GuardedLeases, LARGEST_PAGE, type WriteLimits } from '../leases/guarded-leases.js';
import { guaranteesOf, type Namespaces, shapeOf, storeTime } from '../leases/namespaces.js';
import { BIRTH_ID } from '../leases/swap-policy.js';
import type { Audit } from '../ops/audit.js';

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

const namespaceInfo: Schema = {
  title: 'Namespace',
  ...record({
    namespace: name,
    layout: {
      anyOf: [{ type: 'string' }, { type: 'null' }],
      description: 'the name of the layout, or its fingerprint; null without a layout',
    },
    size: {
      anyOf: [{ type: 'integer' }, { type: 'null' }],
      description: 'the number of node ids; null where the namespace remembers no layout',
    },
    held: { type: 'integer', description: 'node ids whose lease has not expired' },
    expired: { type: 'integer', description: 'node ids whose holder has not renewed in time' },
    used: { type: 'integer', description: 'node ids that anybody has ever held' },
  }),
};

interface ClaimBody {
  readonly expected?: LeaseRecord | null;
  readonly next: LeaseRecord;
  readonly birth?: LeaseRecord;
}

/** The bounds of what callers write: what the server itself would write, or a client with default options. */
function limitsOf({ ttl, layout, namespace }: Settings): WriteLimits {
  const named = Object.entries(layouts).map(([name, { fingerprint }]) => [name, fingerprint] as const);
  return {
    ttl: Math.max(ttl, SETTINGS.ttl.fallback),
    layouts: new Map<string, string | null>([
      ...named,
      ['locality', null],
      ['uuid7', null],
      [namespace || layout, layouts[layout].fingerprint],
    ]),
  };
}

/** Listing and swapping the leases of a namespace. */
export function leaseRoutes(store: Store, namespaces: Namespaces, audit: Audit, settings: Settings): Route[] {
  const guarded = new GuardedLeases(store, limitsOf(settings));
  /** Swaps, and notes writes to records of a namespace itself. */
  const swapAs = async (request: FastifyRequest, { expected, next, birth }: ClaimBody): Promise<boolean> => {
    const { namespace } = request.params as { namespace: string };
    const { caller } = request;
    const by = {
      token: caller?.id ?? '',
      isAdmin: isAdmin(request),
      takeName: () => caller?.namespaces?.take(),
    };
    const isSwapped = await guarded.swap(namespace, expected ?? undefined, next, by, birth);
    if (isSwapped && next.id < 0)
      audit.add(request, 'write namespace', namespace, expected ? { ...expected } : null, { ...next });
    return isSwapped;
  };
  return [
    {
      method: 'GET',
      path: '/v1/leases',
      summary: 'List the namespaces of the store, with size, layout and node ids held',
      scope: 'any',
      response: record({ namespaces: { type: 'array', items: namespaceInfo } }),
      problems: [501, 503],
      waitsForStore: true,
      handle: async () => ({ namespaces: await namespaces.list() }),
    },
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
        layout: {
          anyOf: [{ type: 'string' }, { type: 'null' }],
          description: 'the layout that the namespace remembers',
        },
        size: {
          anyOf: [{ type: 'integer' }, { type: 'null' }],
          description: 'all node ids are below this number; null where the namespace remembers no layout',
        },
        nodes: {
          anyOf: [{ type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 2 }, { type: 'null' }],
          description: 'the first and the last node id; null where the namespace has no range of its own',
        },
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
        const now = await storeTime(store);
        const { layout, size } = shapeOf(namespace, own);
        const { nodes } = summarise(own, now);
        const end = nodes ? nodes[1] + 1 : size;
        return {
          namespace,
          now,
          ...guaranteesOf(store),
          layout,
          size: end,
          nodes: nodes ?? null,
          leases,
          own,
        };
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
      handle: async (request) => ({ swapped: await swapAs(request, request.body as ClaimBody) }),
    },
    {
      method: 'POST',
      path: '/v1/leases/{namespace}/claim',
      summary:
        'Take a lease as swap does, only while record -1 of the namespace is birth, in the same atomic step',
      scope: 'lease',
      params: { namespace: name },
      body: claim,
      response: record({ swapped: { type: 'boolean' } }),
      problems: [503],
      waitsForStore: true,
      async handle(request) {
        const { next, birth } = request.body as ClaimBody;
        if (birth?.id !== BIRTH_ID || next.id < 0)
          throw invalidRequest('birth.id must be -1, and next.id a node id');
        return { swapped: await swapAs(request, request.body as ClaimBody) };
      },
    },
    {
      method: 'GET',
      path: '/v1/leases/{namespace}/moment',
      summary: "Tell the store's time and its lineage, which changes when acknowledged writes may be gone",
      scope: 'any',
      params: { namespace: name },
      response: record({
        now: { type: 'integer', description: 'Unix ms' },
        lineage: {
          anyOf: [{ type: 'string' }, { type: 'null' }],
          description: 'null if the store does not tell',
        },
      }),
      problems: [503],
      waitsForStore: true,
      handle: ({ params }) => guarded.moment((params as { namespace: string }).namespace),
    },
    {
      method: 'POST',
      path: '/v1/tokens/{token}/free',
      summary: 'Free the node ids that a token holds, in every namespace; revoke the token first',
      scope: 'admin',
      params: { token: { type: 'string', pattern: '^[0-9a-f]{12}$', description: 'the id of the token' } },
      query: {
        stopped: {
          type: 'string',
          enum: ['true', 'false'],
          default: 'false',
          description:
            'true if every program with the token has ended: its node ids are then free at once, and not when its windows end',
        },
      },
      response: record({
        freed: { type: 'integer', description: 'how many node ids were freed' },
        until: { type: 'integer', description: 'the time at which all of them can be used again, Unix ms' },
      }),
      problems: [501, 503],
      waitsForStore: true,
      async handle(request) {
        const { token } = request.params as { token: string };
        const { stopped } = request.query as { stopped: string };
        const freed = await guarded.freeAll(token, stopped === 'true');
        audit.add(request, 'free node ids', token, null, { ...freed, stopped });
        return freed;
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
      async handle(request) {
        const { namespace } = request.params as { namespace: string };
        if (store.removeTrial === undefined)
          throw invalidRequest('the store of this server cannot remove records');
        await store.removeTrial(namespace);
        audit.add(request, 'remove namespace', namespace, null, null);
        return undefined;
      },
    },
  ];
}
