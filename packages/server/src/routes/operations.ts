import type { SequenceInfo, Store } from 'idsmith';
import { inspect, type Reading, requireReadings } from 'idsmith/inspect';
import { supplyOf } from 'idsmith/internal';
import type { Settings } from '../config/settings.js';
import type { Forecast } from '../history/forecast.js';
import type { LeaseWatch } from '../history/lease-watch.js';
import type { SequenceWatch } from '../history/sequence-watch.js';
import type { ServerHistory } from '../history/server-history.js';
import type { IdempotencyCache } from '../http/idempotency-cache.js';
import { RequestProblem, retryAfter } from '../http/problem.js';
import type { Route, Schema } from '../http/route.js';
import { MAX_COUNT, record } from '../http/schemas.js';
import { guaranteesOf, type Namespaces, storeTime } from '../leases/namespaces.js';
import type { KeyMinter } from '../mint/key-minter.js';
import type { LeasedMinter } from '../mint/leased-minter.js';
import type { PublicIdCodecs } from '../mint/public-id-codecs.js';
import type { SeriesMinter } from '../mint/series-minter.js';
import type { TypeIdPrefixes } from '../mint/type-id-prefixes.js';
import type { Health, NotReady } from '../ops/health.js';
import { type Metrics, nearestSequences, type SequenceGauge } from '../ops/metrics.js';
import { guarantees } from './leases.js';

const text: Schema = { type: 'string' };
const integer: Schema = { type: 'integer' };

/** The parts of the server that these routes use. */
export interface OperationParts {
  readonly settings: Settings;
  readonly version: string;
  readonly store: Store;
  readonly minter: LeasedMinter;
  readonly publicIds: PublicIdCodecs;
  readonly typeIds: TypeIdPrefixes;
  readonly metrics: Metrics;
  readonly idempotency: IdempotencyCache;
  readonly health: Health;
  readonly history: ServerHistory;
  readonly watch: SequenceWatch;
  readonly namespaces: Namespaces;
  readonly keys: KeyMinter;
  readonly leaseWatch: LeaseWatch;
  readonly series: SeriesMinter;
}

function reasonOf(notReady: NotReady | undefined): object | null {
  return notReady === undefined ? null : { code: notReady.code, detail: notReady.detail };
}

function sequenceGauge(info: SequenceInfo, forecast: Forecast | undefined): SequenceGauge {
  const { remaining } = supplyOf(info) ?? {};
  return {
    sequence: info.name,
    remaining: remaining === undefined ? Number.POSITIVE_INFINITY : Number(remaining),
    seconds: forecast?.seconds ?? Number.POSITIVE_INFINITY,
  };
}

/** Who may have made an id: the holders of its node id at its time, in every namespace whose ids look like it. */
async function makersOf(
  readings: readonly Reading[],
  namespaces: Namespaces,
  leaseWatch: LeaseWatch,
): Promise<object[]> {
  const listed = readings.some(({ fields }) => 'node' in fields) ? await namespaces.listInTime() : [];
  return readings.flatMap(({ fields }) => {
    const { layout, node, timestamp } = fields as { layout?: string; node?: number; timestamp?: number };
    if (layout === undefined || node === undefined || timestamp === undefined) return [];
    return listed
      .filter((each) => each.layout === layout)
      .flatMap(({ namespace }) => {
        const holder = leaseWatch.holderAt(namespace, node, timestamp);
        if (holder === undefined) return [];
        const { term, label, from, to, isHeld } = holder.term;
        return [{ namespace, layout, node, term, label, from, to, isHeld, isCertain: holder.isCertain }];
      });
  });
}

/** Inspecting ids and the server itself. */
export function operationRoutes(parts: OperationParts): Route[] {
  const { store, minter, publicIds, typeIds, metrics, idempotency, health, settings, version } = parts;
  const { watch, namespaces, keys } = parts;
  const gauges = async () => {
    const [listing, listed, shards] = await Promise.all([
      watch.listingInTime(),
      namespaces.listInTime(),
      keys.gauges(),
    ]);
    return {
      sequences: listing.once('gauges', () =>
        nearestSequences(listing.all.map((info) => sequenceGauge(info, watch.forecastOf(info)))),
      ),
      namespaces: listed,
      shards,
      warnings: store.warnings?.().length ?? 0,
    };
  };
  return [
    {
      method: 'GET',
      path: '/v1/inspect/{id}',
      summary: 'Explain an id of any family: every reading that fits, best first',
      scope: 'any',
      params: { id: { type: 'string', minLength: 1, maxLength: 500 } },
      response: record({
        id: text,
        readings: {
          type: 'array',
          items: record({ family: text, reason: text, fields: { type: 'object' } }),
          minItems: 1,
        },
        makers: {
          type: 'array',
          items: record({
            namespace: text,
            layout: text,
            node: integer,
            term: integer,
            label: { ...text, description: 'host and process of the holder' },
            from: { ...integer, description: 'first seen, Unix ms' },
            to: { ...integer, description: 'last seen, Unix ms' },
            isHeld: { type: 'boolean' },
            isCertain: {
              type: 'boolean',
              description: 'false if this server may have missed the true holder',
            },
          }),
          description: 'the holders of the node id at the time of a flake, from the history of leases',
        },
      }),
      async handle({ params, caller }) {
        const { id } = params as { id: string };
        // Others learn nothing from the keys: neither the id inside, nor whether a text is genuine.
        const readers = caller?.scopes.includes('admin') ? publicIds.readers : [];
        const ofSeries = parts.series.readings(id);
        // Most texts of series are ids of no family.
        const readings = [
          ...ofSeries,
          ...(ofSeries.length > 0
            ? inspect(id, { publicIds: readers })
            : requireReadings(id, { publicIds: readers })),
        ];
        return { id, readings, makers: await makersOf(readings, namespaces, parts.leaseWatch) };
      },
    },
    {
      method: 'GET',
      path: '/v1/server',
      summary: 'The server: its leases, its limits, and the guarantees of its store',
      scope: 'any',
      response: record({
        version: text,
        layout: text,
        now: { ...integer, description: "the store's time, Unix ms" },
        ...guarantees,
        schema: {
          anyOf: [record({ version: integer, leastReader: integer }), { type: 'null' }],
          description: 'the form of the data in the store; null if the store has none',
        },
        leases: {
          type: 'array',
          items: record({
            family: text,
            generator: { ...text, description: 'the name of the generator, such as locality sequential' },
            namespace: text,
            state: text,
            until: integer,
            node: { anyOf: [integer, { type: 'null' }] },
            left: { type: 'number', description: 'seconds until the fence' },
          }),
        },
        limits: record({ count: integer, body: integer }),
        publicIds: {
          type: 'array',
          items: record({ prefix: text, of: text, short: { type: 'boolean' } }),
          description: 'the prefixes of ?public=; empty without keys for public ids',
        },
        typeIds: { type: 'array', items: text, description: 'the prefixes of ?prefix= for typed ids' },
        scopes: { type: 'array', items: text, description: 'the scopes of the token of this request' },
        token: {
          anyOf: [record({ name: text, expires: { anyOf: [integer, { type: 'null' }] } }), { type: 'null' }],
          description: 'the token of this request; null where no tokens are in use',
        },
        started: { ...integer, description: 'the start of this server, Unix ms' },
        ready: {
          anyOf: [{ type: 'null' }, record({ code: text, detail: text })],
          description: 'the reason why the server is not ready; null if it is',
        },
      }),
      problems: [503],
      waitsForStore: true,
      handle: async ({ caller }) => ({
        version,
        layout: settings.layout,
        now: await storeTime(store),
        ...guaranteesOf(store),
        schema: (await store.schemaVersion?.()) ?? null,
        leases: minter.leases,
        limits: { count: MAX_COUNT, body: settings.bodyLimit },
        publicIds: publicIds.prefixes,
        typeIds: typeIds.prefixes,
        scopes: caller?.scopes ?? [],
        token: caller?.id ? { name: caller.name, expires: caller.expires ?? null } : null,
        started: parts.history.started,
        ready: reasonOf(await health.check()),
      }),
    },
    {
      method: 'GET',
      path: '/healthz',
      summary: 'Liveness: the process runs',
      scope: 'public',
      response: record({ status: text }),
      handle: () => ({ status: 'ok' }),
    },
    {
      method: 'GET',
      path: '/readyz',
      summary: 'Readiness: the store answers and the leases are active',
      scope: 'public',
      response: record({ status: text }),
      problems: [503],
      async handle() {
        const notReady = await health.check();
        if (notReady === undefined) return { status: 'ready' };
        throw new RequestProblem(503, notReady.code, notReady.detail, retryAfter(notReady.retryAfter));
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      summary: 'Metrics for Prometheus',
      scope: 'any',
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      async handle() {
        idempotency.sweep();
        return metrics.text(await gauges());
      },
    },
  ];
}
