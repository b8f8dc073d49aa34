import { InvalidOptionError } from '../../errors.js';
import { requireInteger } from '../../options.js';
import { storeError } from '../sql/runner.js';

type Headers = Readonly<Record<string, string>>;

/** Where etcd is, and how to speak to it. */
export interface EtcdStoreOptions {
  /** The http or https addresses of the members' JSON gateways, e.g. `http://127.0.0.1:2379`. */
  readonly endpoints: readonly string[];
  /** What the keys begin with. Default `'idsmith/'`. */
  readonly prefix?: string;
  /** How long a request to one endpoint may take, ms. Default 5,000. */
  readonly timeout?: number;
  /** Sent with every request, e.g. `authorization`; a function where a token has to be renewed. */
  readonly headers?: Headers | (() => Headers | Promise<Headers>);
  /** In the place of the runtime's `fetch`, e.g. one with client certificates. */
  readonly fetch?: typeof fetch;
}

export function toBase64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}

export function fromBase64(text: string): string {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** What etcd answers, as far as it is used. Numbers of 64 bits are text. */
interface Reply {
  readonly header: { readonly revision: string };
  readonly kvs?: KeyValue[];
  readonly succeeded?: boolean;
  readonly responses?: { readonly response_range?: { readonly kvs?: KeyValue[] } }[];
}

/** A key and its value, both in base 64. The version is how often it was put since it was made. */
export interface KeyValue {
  readonly key: string;
  readonly value?: string;
  readonly version: string;
  readonly mod_revision: string;
  readonly create_revision: string;
}

/** All keys that begin with the folder: '0' comes right after the '/' that it ends with. */
export function rangeOf(folder: string): { key: string; range_end: string } {
  return { key: toBase64(folder), range_end: toBase64(`${folder.slice(0, -1)}0`) };
}

interface Answer {
  readonly reply: Reply;
  readonly headers: Response['headers'];
}

/** Asks etcd; `operation` is for its error. What is posted to `/v3/kv/txn` is sent once, all else until it is answered. */
export type Ask = (operation: string, path: string, body?: object) => Promise<Answer>;

/** Of a connection that was not made. */
const NEVER_SENT: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT'];

/** Asks the endpoint that answered last, and then the others as far as asking twice can do no harm. */
export function asker(options: EtcdStoreOptions): Ask {
  const endpoints = requireEndpoints(options?.endpoints);
  const timeout = requireInteger('timeout', options.timeout ?? 5000, 1, 2 ** 31 - 1);
  let turn = 0;
  return async (operation, path, body) => {
    const isRead = path !== '/v3/kv/txn';
    const first = turn;
    for (let tried = 1; ; tried++) {
      const endpoint = endpoints[(first + tried - 1) % endpoints.length]!;
      try {
        return await fetchJson(endpoint + path, body, timeout, options);
      } catch (error) {
        turn = (first + tried) % endpoints.length;
        const cause = underlying(error);
        // A transaction that may have reached etcd may also have succeeded; sent again, it would say that it had not.
        if (tried < endpoints.length && (isRead || wasNeverSent(cause))) continue;
        throw storeError(`etcd store: ${operation} at ${endpoint}`, cause);
      }
    }
  };
}

/** `fetch` says only that it failed, and keeps the reason in the cause. */
const underlying = (error: unknown) => (error as { cause?: unknown } | undefined)?.cause ?? error;

function wasNeverSent(cause: unknown): boolean {
  const { code, syscall } = (cause ?? {}) as { code?: unknown; syscall?: unknown };
  return syscall === 'connect' || NEVER_SENT.includes(code);
}

async function fetchJson(
  url: string,
  body: object | undefined,
  timeout: number,
  options: EtcdStoreOptions,
): Promise<Answer> {
  const { headers, fetch: send = fetch } = options;
  const response = await send(url, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: { ...(typeof headers === 'function' ? await headers() : headers) },
    signal: AbortSignal.timeout(timeout),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${text.slice(0, 200)}`);
  const reply = JSON.parse(text);
  // Something else that answers must not pass for an empty etcd.
  if (body === undefined ? !response.headers.has('date') : reply?.header?.cluster_id === undefined)
    throw new Error('the answer is not one of etcd');
  return { reply, headers: response.headers };
}

function requireEndpoints(endpoints: unknown): string[] {
  // They are not shown: someone may have put a password into one.
  const isAddress = (value: unknown) =>
    typeof value === 'string' && URL.canParse(value) && /^https?:\/\/[^@?#]+$/.test(value);
  if (!Array.isArray(endpoints) || endpoints.length === 0 || !endpoints.every(isAddress))
    throw new InvalidOptionError('endpoints must be http or https URLs without credentials, at least one');
  return endpoints.map((endpoint: string) => endpoint.replace(/\/+$/, ''));
}
