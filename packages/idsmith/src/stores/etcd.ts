import { InvalidOptionError } from '../errors.js';
import { requireNamespace } from '../lease/namespace.js';
import type { LeaseRecord } from '../lease/port.js';
import { refuse, requireChoice, requireInteger } from '../options.js';
import type { Store } from './memory.js';
import { storeError } from './sql.js';

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

/**
 * A store in etcd 3.4 or later, through its JSON gateway. Reads are linearizable. A record is two keys,
 * `idsmith/lease/<namespace>/<id>` and `…/<id>/label`, so that a transaction can compare all but the label.
 *
 * @throws InvalidOptionError when an option is not as it must be
 *
 * @example
 * const store = etcdStore({ endpoints: ['http://10.0.0.1:2379', 'http://10.0.0.2:2379'] });
 */
export function etcdStore(options: EtcdStoreOptions): Store {
  const { prefix = 'idsmith/' } = options ?? {};
  if (typeof prefix !== 'string') refuse('prefix', 'text', prefix);
  const ask = asker(options);
  const folderOf = (namespace: string) =>
    `${prefix}lease/${encodeURIComponent(requireNamespace(namespace))}/`;
  return {
    durable: true,

    async now() {
      const { headers } = await ask('reading the clock', '/version');
      // Whole seconds, rounded down: the middle is half a second off at most.
      return Date.parse(headers.get('date')!) + 500;
    },

    async listLeases(namespace) {
      const folder = folderOf(namespace);
      // All keys that begin with the folder: '0' comes right after the '/' that it ends with.
      const range = { key: toBase64(folder), range_end: toBase64(`${folder.slice(0, -1)}0`) };
      const { reply } = await ask('listing leases', '/v3/kv/range', range);
      const pairs = (reply.kvs ?? []).map(
        ({ key, value = '' }) => [fromBase64(key).slice(folder.length), fromBase64(value)] as const,
      );
      const values = new Map(pairs);
      const ids = [...values.keys()].filter((name) => !name.endsWith('/label'));
      return ids.map((id) => decode(values.get(id)!, values.get(`${id}/label`) ?? ''));
    },

    async swapLease(namespace, expected, next) {
      const name = `${folderOf(namespace)}${next.id}`;
      const key = toBase64(name);
      const before =
        expected === undefined
          ? { target: 'VERSION', version: '0' }
          : { target: 'VALUE', value: toBase64(stateOf(expected)) };
      const puts = [
        { key, value: toBase64(stateOf(next)) },
        { key: toBase64(`${name}/label`), value: toBase64(next.label) },
      ];
      const { reply } = await ask('swapping a lease', '/v3/kv/txn', {
        compare: [{ key, result: 'EQUAL', ...before }],
        success: puts.map((put) => ({ request_put: put })),
      });
      return reply.succeeded === true;
    },

    async close() {},
  };
}

/** What a swap compares: always the same text for the same values. */
const stateOf = ({ id, owner, epoch, fence, expiresAt }: LeaseRecord) =>
  JSON.stringify([id, owner, epoch, fence, expiresAt]);

function decode(state: string, label: string): LeaseRecord {
  const [id, owner, epoch, fence, expiresAt] = JSON.parse(state);
  return { id, owner, epoch, fence, expiresAt, label };
}

function toBase64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}

function fromBase64(text: string): string {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

interface Reply {
  readonly kvs?: { readonly key: string; readonly value?: string }[];
  readonly succeeded?: boolean;
}

interface Answer {
  readonly reply: Reply;
  readonly headers: Response['headers'];
}

/** Of a connection that was not made. */
const NEVER_SENT: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT'];

/** Asks the endpoint that answered last, and then the others as far as asking twice can do no harm. */
function asker(options: EtcdStoreOptions) {
  const endpoints = requireEndpoints(options?.endpoints);
  const timeout = requireInteger('timeout', options.timeout ?? 5000, 1, 2 ** 31 - 1);
  let turn = 0;
  return async (operation: string, path: string, body?: object): Promise<Answer> => {
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

/**
 * The store of a URL like `etcd://host:2379,host:2379?tls=true&prefix=idsmith/&timeout=5000`; only the hosts are needed.
 *
 * @throws InvalidOptionError when the URL is not of that form
 */
export async function openEtcd(url: string): Promise<Store> {
  const [, hosts, query] = /^etcd:\/\/([^/?#@]+)\/?(?:\?([^#]*))?$/i.exec(url) ?? [];
  if (hosts === undefined)
    throw new InvalidOptionError(
      'an etcd URL must look like etcd://host:2379,host:2379, without credentials',
    );
  const settings = new URLSearchParams(query);
  for (const name of settings.keys())
    if (!['tls', 'prefix', 'timeout'].includes(name))
      refuse('a setting of an etcd URL', 'tls, prefix or timeout', name);
  const tls = requireChoice('tls', settings.get('tls') ?? 'false', ['false', 'true']) === 'true';
  const [prefix, timeout] = [settings.get('prefix'), settings.get('timeout')];
  return etcdStore({
    endpoints: hosts
      .split(',')
      .map((host) => `${tls ? 'https' : 'http'}://${host}${/:\d+$/.test(host) ? '' : ':2379'}`),
    ...(prefix !== null && { prefix }),
    ...(timeout !== null && { timeout: Number(timeout) }),
  });
}
