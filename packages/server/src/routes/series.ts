import type { Store } from 'idsmith';
import type { SeriesOptions } from 'idsmith/sql';
import { countOf } from '../auth/guard.js';
import type { Route, Schema } from '../http/route.js';
import { count, ids, name, record } from '../http/schemas.js';
import { type SeriesMinter, seriesAmong } from '../mint/series-minter.js';
import type { Audit } from '../ops/audit.js';

const text: Schema = { type: 'string', maxLength: 255 };

/** The most counters that are listed of one series: the latest periods. */
const MAX_COUNTERS = 100;

const body: Schema = {
  title: 'SeriesRequest',
  ...record(
    {
      format: { ...text, minLength: 1, description: 'the printed form, such as INV-{yyyy}-{n:6}' },
      period: { type: 'string', enum: ['none', 'year', 'quarter', 'month', 'day'] },
      timeZone: { ...text, description: 'the calendar of the period, such as Europe/Berlin' },
      tenant: { ...text, description: 'each tenant has numbers of its own' },
    },
    ['period', 'timeZone', 'tenant'],
  ),
};

/** Series: the numbers that people print. */
export function seriesRoutes(store: Store, series: SeriesMinter, audit: Audit): Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/series/{name}/next',
      summary: 'Print the next numbers of a series',
      scope: 'mint',
      params: { name },
      query: { count },
      body,
      response: ids,
      problems: [404, 410, 503],
      waitsForStore: true,
      async handle(request) {
        const { name } = request.params as { name: string };
        const { tenant, ...options } = request.body as SeriesOptions & { tenant?: string };
        const mayBegin = request.caller?.scopes.includes('admin') ?? false;
        const minted = await series.next(name, options, { tenant, count: countOf(request), mayBegin });
        if (minted.hasBegun) audit.add(request, 'define', `series ${name}`, null, { ...options });
        return { ids: minted.ids };
      },
    },
    {
      method: 'GET',
      path: '/v1/series',
      summary: 'List the series, with their tenants and periods',
      scope: 'any',
      response: record({
        series: {
          type: 'array',
          items: record({
            name: { type: 'string' },
            total: { type: 'integer', description: 'how many counters there are' },
            counters: {
              type: 'array',
              items: record({
                tenant: { anyOf: [{ type: 'string' }, { type: 'null' }] },
                period: { type: 'string', description: '2026, 2026-07 and so on; empty without periods' },
                sequence: { type: 'string', description: 'the sequence that counts' },
                next: { type: 'string', description: 'the next number that leaves the store' },
              }),
              maxItems: MAX_COUNTERS,
            },
          }),
        },
      }),
      problems: [503],
      waitsForStore: true,
      async handle() {
        const found = seriesAmong(await store.listSequences());
        return {
          series: found.map(({ name, counters }) => ({
            name,
            total: counters.length,
            counters: counters
              .toSorted((a, b) => (a.period < b.period ? 1 : a.period > b.period ? -1 : 0))
              .slice(0, MAX_COUNTERS)
              .map((counter) => ({ ...counter, next: String(counter.next) })),
          })),
        };
      },
    },
  ];
}
