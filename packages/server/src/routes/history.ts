import type { LeaseWatch } from '../history/lease-watch.js';
import type { SequenceWatch } from '../history/sequence-watch.js';
import type { ServerHistory } from '../history/server-history.js';
import type { Route, Schema } from '../http/route.js';
import { name, record } from '../http/schemas.js';
import type { Audit } from '../ops/audit.js';

/** The parts of the server that these routes use. */
export interface HistoryParts {
  readonly history: ServerHistory;
  readonly watch: SequenceWatch;
  readonly leaseWatch: LeaseWatch;
  readonly audit: Audit;
}

const integer: Schema = { type: 'integer' };
const text: Schema = { type: 'string' };

const points: Schema = {
  title: 'Points',
  ...record({
    end: { ...integer, description: 'the end of the last slot, Unix seconds' },
    step: { ...integer, description: 'the length of a slot, seconds' },
    values: { type: 'array', items: { anyOf: [{ type: 'number' }, { type: 'null' }] } },
  }),
};

const span: Schema = {
  type: 'string',
  enum: ['hour', 'day'],
  default: 'hour',
  description: 'the last hour in slots of 5 seconds, or the last day in slots of 5 minutes',
};

const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });

/** The past of the server: rates, sequences, leases and administrative changes. */
export function historyRoutes({ history, watch, leaseWatch, audit }: HistoryParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/history',
      summary: 'Rates of this server in the last hour or day',
      scope: 'any',
      query: { span },
      response: record({ since: integer, series: { type: 'object', additionalProperties: points } }),
      handle: ({ query }) => ({
        since: history.since,
        series: history.read((query as { span: 'hour' | 'day' }).span),
      }),
    },
    {
      method: 'GET',
      path: '/v1/history/sequences/{name}',
      summary:
        'Ids of a sequence that left the store, and that this server handed out, in the last hour or day',
      scope: 'any',
      params: { name },
      query: { span },
      response: record({
        since: orNull(integer),
        series: { type: 'object', additionalProperties: points },
      }),
      handle({ params, query }) {
        const { name } = params as { name: string };
        const found = watch.historyOf(name);
        const { span } = query as { span: 'hour' | 'day' };
        if (found === undefined) return { since: null, series: {} };
        const { taken, handedOut, since } = found;
        return { since, series: { taken: taken[span], handedOut: handedOut[span] } };
      },
    },
    {
      method: 'GET',
      path: '/v1/history/leases/{namespace}',
      summary: 'Who held which node id, and when, as this server has seen it',
      scope: 'any',
      params: { namespace: name },
      query: { node: { ...integer, minimum: 0, description: 'only this node id' } },
      response: record({
        terms: {
          type: 'array',
          items: record({
            node: integer,
            term: integer,
            label: text,
            from: { ...integer, description: 'first seen, Unix ms' },
            isFromExact: {
              type: 'boolean',
              description: 'whether the holder came while this server was looking',
            },
            to: { ...integer, description: 'last seen, Unix ms' },
            isHeld: { type: 'boolean' },
            fence: { ...integer, description: 'no id of this holder has this time or a later one, Unix ms' },
          }),
        },
      }),
      handle({ params, query }) {
        const { namespace } = params as { namespace: string };
        const terms = leaseWatch.of(namespace, (query as { node?: number }).node).slice(0, 1000);
        return { terms: terms.map(({ after: _, ...term }) => term) };
      },
    },
    {
      method: 'GET',
      path: '/v1/audit',
      summary: 'The latest administrative changes on this server, newest first',
      scope: 'admin',
      response: record({
        changes: {
          type: 'array',
          items: record({
            at: integer,
            action: text,
            subject: text,
            token: orNull(text),
            tokenId: orNull(text),
            requestId: text,
            before: orNull({ type: 'object' }),
            after: orNull({ type: 'object' }),
          }),
        },
      }),
      handle: () => ({ changes: audit.changes }),
    },
  ];
}
