import { connectionLost, requestSent } from './connection.js';
import { ApiError, UnreachableError } from './errors.js';
import { token, tokenRefused } from './session.js';
import type { Problem } from './types.js';

/** The longest wait for a response, ms. */
const REQUEST_TIMEOUT = 15_000;

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface RequestOptions {
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Replaces the token of this tab. */
  readonly token?: string;
}

/**
 * Sends a request and returns the body of the response as text.
 *
 * @throws ApiError when the server refuses the request; UnreachableError when no response arrives
 */
export async function requestText(
  method: Method,
  path: string,
  options: RequestOptions = {},
): Promise<string> {
  const used = options.token ?? token.get();
  const { isOk, response, text } = await exchange(method, path, options, used);
  if (isOk) return text;
  if (response.status === 401 && options.token === undefined) tokenRefused(used);
  throw new ApiError(problemOf(response, text));
}

/** Sends a request and returns the body of the response, read as JSON. */
export async function request<T>(method: Method, path: string, options?: RequestOptions): Promise<T> {
  const text = await requestText(method, path, options);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

async function exchange(method: Method, path: string, options: RequestOptions, used: string) {
  const { query, body, signal } = options;
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT);
  const address = path + queryOf(query);
  const known = method === 'GET' ? knownBody(address, used) : undefined;
  const answered = requestSent();
  try {
    const response = await fetch(address, {
      method,
      cache: 'no-store',
      headers: {
        // Tells the server that this is a page that is open, and no load.
        'x-idsmith-console': '1',
        ...(used !== '' && { authorization: `Bearer ${used}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(known !== undefined && { 'if-none-match': known.etag }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    const text = await response.text();
    if (response.status === 304 && known !== undefined) return { isOk: true, response, text: known.text };
    if (isFromGateway(response, text)) throw new Error(`a proxy answered ${response.status}`);
    if (method === 'GET' && response.ok) rememberBody(address, used, response.headers.get('etag'), text);
    return { isOk: response.ok, response, text };
  } catch (error) {
    if (signal?.aborted) throw error;
    connectionLost();
    throw new UnreachableError(error);
  } finally {
    answered();
  }
}

/** True for the response of a proxy whose server is away. The server itself answers with a problem. */
function isFromGateway({ status }: Response, text: string): boolean {
  return status >= 502 && status <= 504 && !text.startsWith('{');
}

function queryOf(query: RequestOptions['query'] = {}): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** The problem in the body of a response. A proxy in between may have answered with HTML. */
function problemOf({ status, statusText }: Response, text: string): Problem {
  try {
    const { code, detail } = JSON.parse(text);
    if (typeof detail === 'string') return { status, code: String(code), detail };
  } catch {}
  return { status, code: '', detail: `the server answered ${status} ${statusText}`.trim() };
}

/** A body that the server may confirm with status 304 instead of sending it again. */
interface KnownBody {
  readonly etag: string;
  readonly text: string;
}

/** The number of bodies to keep. A page polls one or two addresses at a time. */
const KEPT = 4;

/** The last bodies with an entity tag, by the token and the address of their requests, oldest first. */
const bodies = new Map<string, KnownBody>();

const keyOf = (address: string, token: string) => `${token} ${address}`;

function knownBody(address: string, token: string): KnownBody | undefined {
  return bodies.get(keyOf(address, token));
}

/** Keeps a body that has an entity tag, in the place of the oldest one. */
function rememberBody(address: string, token: string, etag: string | null, text: string): void {
  if (etag === null) return;
  bodies.delete(keyOf(address, token));
  bodies.set(keyOf(address, token), { etag, text });
  for (const oldest of [...bodies.keys()].slice(0, -KEPT)) bodies.delete(oldest);
}
