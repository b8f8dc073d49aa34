import { type RequestOptions, request, requestText } from './client.js';
import type {
  Inspection,
  LeasesJson,
  SequenceChanges,
  SequenceJson,
  SequencePageJson,
  SequenceQuery,
  ServerJson,
} from './types.js';

type Signal = AbortSignal | undefined;

const part = encodeURIComponent;
const sequencePath = (name: string) => `v1/sequences/${part(name)}`;
const mint = async (path: string, query: NonNullable<RequestOptions['query']>) =>
  (await request<{ ids: string[] }>('POST', path, { query })).ids;

/** The routes of the server that the console uses. */
export const api = {
  inspect: (id: string, signal?: Signal) => request<Inspection>('GET', `v1/inspect/${part(id)}`, { signal }),

  flakes: (count: string) => mint('v1/flakes', { count }),
  locality: (count: string, mode: string) => mint('v1/locality', { count, mode }),
  keys: (count: string, type: string) => mint('v1/keys', { count, type }),
  sequenceIds: (name: string, count: string) => mint(`${sequencePath(name)}/next`, { count }),

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
