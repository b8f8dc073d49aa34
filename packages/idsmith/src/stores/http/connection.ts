import { errorTable, IdError, InvalidOptionError, StoreError } from '../../errors.js';
import { requireNamespace } from '../../lease/namespace.js';
import { refuse } from '../../options.js';
import { requireSequenceName } from '../../sequence/name.js';
import { freshName } from '../../support/fresh-name.js';
import { backoff } from '../../support/retry.js';
import { fetchCause, reasonOf, storeReason, wasNeverSent } from '../../support/store-error.js';
import { keepAlive, pause, systemTimer } from '../../support/timer.js';
import { ServerReply } from './server-reply.js';

/** A request to a server. */
export interface HttpRequest {
  /** The operation, for error messages: `allocating from sequence "orders"`. */
  readonly what: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  /** True when the request may be sent again after a lost reply: the server remembers the reply, or a repetition is harmless. */
  readonly isRepeatable: boolean;
}

/** A request that reads. */
export const get = (what: string, path: string): HttpRequest => ({
  what,
  method: 'GET',
  path,
  isRepeatable: true,
});

/** A request that changes something. */
export const post = (what: string, path: string, body?: object, isRepeatable = false): HttpRequest => ({
  what,
  method: 'POST',
  path,
  isRepeatable,
  ...(body !== undefined && { body }),
});

/** The path of a namespace's leases. */
export const leasesPath = (namespace: string) =>
  `/v1/leases/${segment('namespace', requireNamespace(namespace))}`;

/** The path of a sequence. */
export const sequencePath = (name: string) =>
  `/v1/sequences/${segment('the name of a sequence', requireSequenceName(name))}`;

/** One segment of a path. URLs cannot have the segments `.` and `..`, not even escaped. */
function segment(option: string, text: string): string {
  if (text === '.' || text === '..') refuse(option, 'another than "." and ".." over HTTP', text);
  return encodeURIComponent(text);
}

/** Asks the server and reads the reply with `read`, which throws when the reply is not as expected. */
export type AskServer = <T>(request: HttpRequest, read: (reply: ServerReply) => T) => Promise<T>;

/** The server, and how to reach it. */
export interface HttpTransport {
  /** The server's URL, without a slash at its end. */
  readonly base: string;
  readonly token: string | undefined;
  /** The time limit of each try, and of all waits for another try, ms. */
  readonly timeout: number;
  readonly fetch: typeof fetch;
}

/** The most times that a request is sent without a reply. */
const MAX_LOST = 3;
const BACKOFF = { unit: 100, longest: 1000 };
/** The way in which a store takes a token. */
const TOKEN_HINT =
  '. A store takes its token in the URL, https://TOKEN@host:7600, or as httpStore(url, { token })';

/**
 * Asks a server, and asks again where a repetition is harmless. A server that refuses for a while (429, 503) or accepts no
 * connection while it restarts is asked again until `timeout` has passed. A server that has never answered is given up sooner.
 */
export function serverAsker(transport: HttpTransport): AskServer {
  let hasAnswered = false;
  return async (request, read) => {
    const what = `http store: ${request.what} at ${transport.base}`;
    const key = request.method === 'GET' ? undefined : freshName();
    const deadline = performance.now() + transport.timeout;
    let lost = 0;
    for (let tries = 1; ; tries++) {
      let wait = backoff(tries, BACKOFF);
      try {
        // A signal of a time limit does not keep a process alive, nor does a socket that the runtime has given up.
        const reply = await keepAlive(systemTimer, send(transport, request, key, lost + 1));
        hasAnswered = true;
        const asked = requestedWait(reply, request);
        // Clients that were refused together come back one after the other.
        wait += asked ?? 0;
        if (asked === undefined || performance.now() + wait > deadline)
          return interpret(what, reply.status, reply.text, read);
      } catch (error) {
        if (error instanceof IdError) throw error;
        const cause = fetchCause(error);
        const isAway = wasNeverSent(cause) && hasAnswered;
        const again = isAway
          ? performance.now() + wait <= deadline
          : ++lost < MAX_LOST && (request.isRepeatable || wasNeverSent(cause));
        if (!again)
          throw new StoreError(`${what} failed: ${failureOf(cause)}`, { cause, reason: storeReason(cause) });
      }
      await pause(systemTimer, wait, false);
    }
  };
}

async function send(
  { base, token, timeout, fetch: ask }: HttpTransport,
  { method, path, body }: HttpRequest,
  key: string | undefined,
  tries: number,
): Promise<HttpReply> {
  const response = await ask(base + path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body, exact) }),
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(key !== undefined && { 'idempotency-key': key, 'idsmith-try': String(tries) }),
    },
    // The token goes to this server and to no other.
    redirect: 'error',
    signal: AbortSignal.timeout(timeout),
  });
  const { status, headers } = response;
  return { status, retryAfter: headers.get('retry-after'), text: await response.text() };
}

/**
 * The content of a reply.
 *
 * @throws the error that the reply tells of: one of this library by its code, else a StoreError
 */
function interpret<T>(what: string, status: number, text: string, read: (reply: ServerReply) => T): T {
  // Not redacted: all of it comes from the server or from here, and the hint shows how a URL with a token looks.
  const failure = (said: string, cause?: unknown) =>
    new StoreError(`${what} failed: HTTP ${status}: ${said}`, {
      cause,
      reason: storeReason({ message: `HTTP ${status}` }),
    });
  try {
    const reply = ServerReply.of(text === '' ? '{}' : text);
    if (status < 400) return read(reply);
    const [code, detail] = [reply.text('code'), reply.text('detail')];
    const known = errorTable.find((entry) => entry.code === code);
    if (known !== undefined) throw new known.class(detail, { reason: reply.reason() });
    throw failure(detail + (status === 401 ? TOKEN_HINT : ''));
  } catch (error) {
    if (error instanceof IdError) throw error;
    throw failure((error as Error).message, error);
  }
}

const exact = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

function failureOf(cause: unknown): string {
  return (cause as Error | undefined)?.name === 'TimeoutError' ? 'no answer in time' : reasonOf(cause);
}

/** A reply, as it came. */
export interface HttpReply {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

/** Codes of refusals before anything was done. */
const NOT_DONE: readonly unknown[] = ['OVERLOADED', 'RATE_LIMITED'];

/** The three forms of a date in HTTP (RFC 9110, 5.6.7) begin with the name of a day. */
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

/**
 * The time after which a request that was refused may be sent again, ms. `undefined` if it may not: the reply is no refusal for a
 * while, or something may have been done and doing it again is not harmless.
 */
export function requestedWait(
  { status, retryAfter, text }: HttpReply,
  { isRepeatable }: HttpRequest,
): number | undefined {
  if ((status !== 429 && status !== 503) || retryAfter === null) return undefined;
  if (!isRepeatable && !NOT_DONE.includes(codeIn(text))) return undefined;
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter) * 1000;
  // `Date.parse` alone takes "-1" for a year, which is over.
  const date = HTTP_DATE.test(retryAfter) ? Date.parse(retryAfter) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

function codeIn(text: string): unknown {
  try {
    return JSON.parse(text)?.code;
  } catch {
    // A proxy may have refused the request.
    return undefined;
  }
}

/**
 * The URL of a server without a slash at its end.
 *
 * @throws InvalidOptionError without the URL, which may hold a token
 */
export function requireHttpUrl(url: unknown): string {
  if (typeof url !== 'string' || !URL.canParse(url)) throw badUrl();
  const { protocol, origin, pathname, search, hash, username, password } = new URL(url);
  const isPlain = [search, hash, username, password].every((part) => part === '');
  if (!isPlain || (protocol !== 'http:' && protocol !== 'https:')) throw badUrl();
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/**
 * The URL and the token of a URL like `https://token@host:7600`.
 *
 * @throws InvalidOptionError when the URL cannot be parsed; the message does not show the URL
 */
export function splitUrl(url: string): { url: string; token: string | undefined } {
  if (!URL.canParse(url)) throw badUrl();
  const parsed = new URL(url);
  // Tokens of idsmith have no character that a URL must escape.
  const token = parsed.password || parsed.username || undefined;
  parsed.username = parsed.password = '';
  return { url: parsed.href, token };
}

function badUrl(): InvalidOptionError {
  return new InvalidOptionError('the URL of a server must look like https://host:7600, without query');
}
