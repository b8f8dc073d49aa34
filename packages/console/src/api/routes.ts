import { request, requestText } from './client.js';
import type {
  ChangeJson,
  HistoryJson,
  Inspection,
  LeasesJson,
  MintedJson,
  NamespaceJson,
  RingJson,
  SequenceChanges,
  SequenceJson,
  SequencePageJson,
  SequenceQuery,
  SeriesJson,
  SeriesRequest,
  ServerJson,
  Span,
  TermJson,
} from './types.js';

type Signal = AbortSignal | undefined;

const part = encodeURIComponent;
const sequencePath = (name: string) => `v1/sequences/${part(name)}`;

/** The parameters of every request for ids. */
export interface MintQuery {
  readonly count: string;
  /** The prefix of public ids; empty for none. The response then has both forms. */
  readonly public: string;
}

const mint = (path: string, query: MintQuery & Readonly<Record<string, string>>) =>
  request<MintedJson>('POST', path, { query: { ...query, ...(query.public !== '' && { plain: 'true' }) } });

/** The routes of the server that the console uses. */
export const api = {
  inspect: (id: string, signal?: Signal) => request<Inspection>('GET', `v1/inspect/${part(id)}`, { signal }),

  flakes: (query: MintQuery) => mint('v1/flakes', { ...query }),
  locality: (query: MintQuery, mode: string) => mint('v1/locality', { ...query, mode }),
  uuid7: (query: MintQuery) => mint('v1/uuid7', { ...query }),
  keys: (query: MintQuery, type: string) => mint('v1/keys', { ...query, type }),
  seriesNumbers: ({ count }: MintQuery, name: string, body: SeriesRequest) =>
    request<MintedJson>('POST', `v1/series/${part(name)}/next`, { query: { count }, body }),
  series: async (signal?: Signal) =>
    (await request<{ series: SeriesJson[] }>('GET', 'v1/series', { signal })).series,
  sequenceIds: (query: MintQuery, name: string) => mint(`${sequencePath(name)}/next`, { ...query }),

  /** A page of the list of sequences. A list without a limit can have thousands. */
  sequences: (query: SequenceQuery, signal?: Signal) =>
    request<SequencePageJson>('GET', 'v1/sequences', { query: { ...query }, signal }),
  sequence: (name: string, signal?: Signal) => request<SequenceJson>('GET', sequencePath(name), { signal }),
  define: (body: SequenceChanges) => request<SequenceJson>('POST', 'v1/sequences', { body }),
  alter: (name: string, body: SequenceChanges) =>
    request<SequenceJson>('PATCH', sequencePath(name), { body }),
  remove: (name: string) => request<void>('DELETE', sequencePath(name)),

  namespaces: async (signal?: Signal) =>
    (await request<{ namespaces: NamespaceJson[] }>('GET', 'v1/leases', { signal })).namespaces,
  terms: async (namespace: string, node?: number, signal?: Signal) => {
    const path = `v1/history/leases/${part(namespace)}`;
    return (await request<{ terms: TermJson[] }>('GET', path, { query: { node }, signal })).terms;
  },
  leases: (namespace: string, signal?: Signal) =>
    request<LeasesJson>('GET', `v1/leases/${part(namespace)}`, { signal }),

  history: (span: Span, signal?: Signal) =>
    request<HistoryJson>('GET', 'v1/history', { query: { span }, signal }),
  sequenceHistory: (name: string, span: Span, signal?: Signal) =>
    request<HistoryJson>('GET', `v1/history/sequences/${part(name)}`, { query: { span }, signal }),
  audit: async (signal?: Signal) =>
    (await request<{ changes: ChangeJson[] }>('GET', 'v1/audit', { signal })).changes,

  ring: (signal?: Signal) => request<RingJson>('GET', 'v1/ring', { signal }),
  server: (signal?: Signal) => request<ServerJson>('GET', 'v1/server', { signal }),
  /** Succeeds if the server knows the token, and throws `ApiError` otherwise. */
  tryToken: (token: string) => request<ServerJson>('GET', 'v1/server', { token }),
  ready: (signal?: Signal) => request<{ status: string }>('GET', 'readyz', { signal }),
  metrics: (signal?: Signal) => requestText('GET', 'metrics', { signal }),
};
