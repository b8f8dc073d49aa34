import type { SeriesOptions } from 'idsmith/sql';
import { countOf } from '../auth/guard.js';
import type { SequenceWatch } from '../history/sequence-watch.js';
import { isAdmin, type Route, type Schema } from '../http/route.js';
import { count, ids, name, record } from '../http/schemas.js';
import { encoded, type SeriesMinter, seriesAmong } from '../mint/series-minter.js';
import type { Audit } from '../ops/audit.js';
import type { Metrics } from '../ops/metrics.js';

const text: Schema = { type: 'string', maxLength: 255 };

/** The most counters that are listed of one series: the latest periods. */
const MAX_COUNTERS = 100;

/** The most tenants to remember. */
const MAX_TENANTS = 100_000;

/** A tenant of a series, as the names of its counters have it: `series:invoices:acme`. */
const tenantKey = (series: string, tenant: string) => `series:${encoded(series)}:${encoded(tenant)}`;

/** The same, from the name of a counter. */
const tenantKeyOf = (sequence: string) => sequence.split(':', 3).join(':');

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
export function seriesRoutes(
  series: SeriesMinter,
  watch: SequenceWatch,
  metrics: Metrics,
  audit: Audit,
): Route[] {
  const seen = new Set<string>();
  /** True for a tenant without a counter in any period, as far as this server knows. */
  const isNewTenant = async (key: string): Promise<boolean> => {
    if (seen.has(key)) return false;
    const listing = await watch.listing();
    const begun = listing.once('tenants', () => new Set(listing.all.map(({ name }) => tenantKeyOf(name))));
    return !begun.has(key);
  };
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
        const count = countOf(request, 'printed');
        const key = tenant === undefined ? undefined : tenantKey(name, tenant);
        const isNew = key !== undefined && (await isNewTenant(key));
        if (isNew) request.caller?.tenants?.take();
        const minted = await series.next(name, options, { tenant, count, mayDefine: isAdmin(request) });
        if (minted.isDefined || isNew) watch.changed();
        if (minted.isDefined) audit.add(request, 'define', `series ${name}`, null, { ...options });
        if (key !== undefined && !seen.has(key)) {
          if (seen.size >= MAX_TENANTS) seen.clear();
          seen.add(key);
        }
        if (isNew) {
          metrics.tenants.add(1, request.caller?.name ?? '');
          audit.add(request, 'define', `series ${name}`, null, { tenant });
        }
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
        const listing = await watch.listing();
        return listing.once('series', () => {
          const found = seriesAmong(listing.all);
          return JSON.stringify({
            series: found.map(({ name, counters }) => ({
              name,
              total: counters.length,
              counters: counters
                .toSorted((a, b) => (a.period < b.period ? 1 : a.period > b.period ? -1 : 0))
                .slice(0, MAX_COUNTERS)
                .map((counter) => ({ ...counter, next: String(counter.next) })),
            })),
          });
        });
      },
    },
  ];
}
