import { request, requestText } from './client.js';
import type {
  Inspection,
  LeasesJson,
  MintedJson,
  SequenceChanges,
  SequenceJson,
  SequencePageJson,
  SequenceQuery,
  ServerJson,
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
  sequenceIds: (query: MintQuery, name: string) => mint(`${sequencePath(name)}/next`, { ...query }),

  /** A page of the list of sequences. A list without a limit can have thousands. */
  sequences: (query: SequenceQuery, signal?: Signal) =>
    request<SequencePageJson>('GET', 'v1/sequences', { query: { ...query }, signal }),
  define: (body: SequenceChanges) => request<SequenceJson>('POST', 'v1/sequences', { body }),
  alter: (name: string, body: SequenceChanges) =>
    request<SequenceJson>('PATCH', sequencePath(name), { body }),
  remove: (name: string) => request<void>('DELETE', sequencePath(name)),

  leases: (namespace: string, signal?: Signal) =>
    request<LeasesJson>('GET', `v1/leases/${part(namespace)}`, { signal }),

  server: (signal?: Signal) => request<ServerJson>('GET', 'v1/server', { signal }),
  /** Succeeds if the server knows the token, and throws `ApiError` otherwise. */
  tryToken: (token: string) => request<ServerJson>('GET', 'v1/server', { token }),
  ready: (signal?: Signal) => request<{ status: string }>('GET', 'readyz', { signal }),
  metrics: (signal?: Signal) => requestText('GET', 'metrics', { signal }),
};
