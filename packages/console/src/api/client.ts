import { connectionLost } from './connection.js';
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
  const { response, text } = await exchange(method, path, options, used);
  if (response.ok) return text;
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
  try {
    const response = await fetch(path + queryOf(query), {
      method,
      cache: 'no-store',
      headers: {
        ...(used !== '' && { authorization: `Bearer ${used}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    return { response, text: await response.text() };
  } catch (error) {
    if (signal?.aborted) throw error;
    connectionLost();
    throw new UnreachableError(error);
  }
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
