import { InvalidOptionError, StoreError } from '../../errors.js';
import { fetchCause, storeError, wasNeverSent } from '../../support/store-error.js';
import { requireTimeout } from '../../support/timeout.js';
import { keepAlive, systemTimer } from '../../support/timer.js';

type Headers = Readonly<Record<string, string>>;

/** Options of an etcd store. */
export interface EtcdStoreOptions {
  /** The http or https addresses of the members' JSON gateways, e.g. `http://127.0.0.1:2379`. */
  readonly endpoints: readonly string[];
  /** The beginning of all keys. Default `'idsmith/'`. */
  readonly prefix?: string | undefined;
  /** The longest time for a request to one endpoint, ms. Default 5,000. */
  readonly timeout?: number | undefined;
  /** Headers of every request, e.g. `authorization`; a function where a token has to be renewed. */
  readonly headers?: (Headers | (() => Headers | Promise<Headers>)) | undefined;
  /** A replacement for the runtime's `fetch`, e.g. one with client certificates. */
  readonly fetch?: typeof fetch | undefined;
  /** The longest way that a sequence jumps after a loss, in ids. Default 10,000,000. */
  readonly maxJump?: number | undefined;
}

export function toBase64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}

export function fromBase64(text: string): string {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** The used part of a reply of etcd. Numbers of 64 bits are text. */
export interface EtcdReply {
  readonly header: { readonly revision: string; readonly cluster_id: string };
  readonly kvs?: KeyValue[];
  readonly succeeded?: boolean;
  readonly responses?: { readonly response_range?: { readonly kvs?: KeyValue[] } }[];
  /** In a status: the last entry of the raft log that the member has applied. */
  readonly raftAppliedIndex?: string;
}

/** The keys that each range of a transaction has found. */
export function rangesIn({ responses }: EtcdReply): KeyValue[][] {
  const ranges = (responses ?? []).filter(({ response_range }) => response_range !== undefined);
  return ranges.map(({ response_range }) => response_range?.kvs ?? []);
}

/** A key and its value, both in base 64. The version counts the puts since the key was created. */
export interface KeyValue {
  readonly key: string;
  readonly value?: string;
  readonly version: string;
  readonly mod_revision: string;
  readonly create_revision: string;
}

/**
 * The clock of the server that answered, ms. Whole seconds, rounded down: the middle is half a second off at most.
 *
 * @throws StoreError when the answer has no date
 */
export function timeOf({ headers }: EtcdResponse): number {
  const time = Date.parse(headers.get('date') ?? '') + 500;
  if (Number.isNaN(time))
    throw new StoreError('etcd store: the answer has no date: a proxy may have removed it');
  return time;
}

/** The range of all keys that begin with `folder`, which ends with '/'. The character after '/' is '0'. */
export function rangeOf(folder: string): { key: string; range_end: string } {
  return { key: toBase64(folder), range_end: toBase64(`${folder.slice(0, -1)}0`) };
}

interface EtcdResponse {
  readonly reply: EtcdReply;
  readonly headers: Response['headers'];
}

/**
 * Asks etcd. Messages name the `operation`. A transaction with conditions is sent once. All other requests are sent to one endpoint
 * after the other, until one answers.
 */
export type AskEtcd = (operation: string, path: string, body?: object) => Promise<EtcdResponse>;

/** Asks the endpoint that answered last, and then the others where a repetition is harmless. */
export function asker(options: EtcdStoreOptions): AskEtcd {
  const endpoints = requireEndpoints(options?.endpoints);
  const timeout = requireTimeout(options.timeout, 5000);
  let turn = 0;
  return async (operation, path, body) => {
    const isRead = body === undefined || !('compare' in body);
    const first = turn;
    for (let tried = 1; ; tried++) {
      const endpoint = endpoints[(first + tried - 1) % endpoints.length]!;
      try {
        // A signal of a time limit does not keep a process alive, nor does a socket that the runtime has given up.
        return await keepAlive(systemTimer, fetchJson(endpoint + path, body, timeout, options));
      } catch (error) {
        turn = (first + tried) % endpoints.length;
        const cause = fetchCause(error);
        // A transaction that may have reached etcd may have succeeded. Sent again, it would report the opposite.
        if (tried < endpoints.length && (isRead || wasNeverSent(cause))) continue;
        throw storeError(`etcd store: ${operation} at ${endpoint}`, explained(cause, timeout));
      }
    }
  };
}

/** The reason of a failed request. A time limit says nothing about etcd by itself. */
function explained(cause: unknown, timeout: number): unknown {
  if ((cause as Error | undefined)?.name !== 'TimeoutError') return cause;
  const text = `no answer within ${timeout} ms. A member that does not reach most of the others has no leader, and answers nothing`;
  return Object.assign(new Error(text, { cause }), { name: 'TimeoutError' });
}

async function fetchJson(
  url: string,
  body: object | undefined,
  timeout: number,
  options: EtcdStoreOptions,
): Promise<EtcdResponse> {
  const { headers, fetch: send = fetch } = options;
  const response = await send(url, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: { ...(typeof headers === 'function' ? await headers() : headers) },
    signal: AbortSignal.timeout(timeout),
  });
  const text = await response.text();
  if (text.includes('database space exceeded'))
    throw Object.assign(
      new Error(
        'etcd: database space exceeded. Compact and defragment the members, or raise --quota-backend-bytes; then run etcdctl alarm disarm',
      ),
      { code: 'ENOSPC' },
    );
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${text.slice(0, 200)}`);
  const reply = JSON.parse(text);
  // Another kind of server must not pass for an empty etcd.
  if (body === undefined ? !response.headers.has('date') : reply?.header?.cluster_id === undefined)
    throw new Error('the answer is not one of etcd');
  return { reply, headers: response.headers };
}

function requireEndpoints(endpoints: unknown): string[] {
  // The message does not show the endpoints: someone may have put a password into one.
  const isAddress = (value: unknown) =>
    typeof value === 'string' && URL.canParse(value) && /^https?:\/\/[^@?#]+$/.test(value);
  if (!Array.isArray(endpoints) || endpoints.length === 0 || !endpoints.every(isAddress))
    throw new InvalidOptionError('endpoints must be http or https URLs without credentials, at least one');
  return endpoints.map((endpoint: string) => endpoint.replace(/\/+$/, ''));
}
