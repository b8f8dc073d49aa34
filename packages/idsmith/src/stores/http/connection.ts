import { errorTable, IdError, StoreError } from '../../errors.js';
import { backoff } from '../../support/backoff.js';
import { freshName } from '../../support/fresh-name.js';
import { reasonOf } from '../../support/store-error.js';
import { keepAlive, pause, systemTimer } from '../../support/timer.js';
import { fetchCause, wasNeverSent } from '../fetch-failure.js';
import type { HttpRequest } from './request.js';
import { type HttpReply, requestedWait } from './retry-after.js';
import { ServerReply } from './server-reply.js';

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
        if (!again) throw new StoreError(`${what} failed: ${failureOf(cause)}`, { cause });
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
  try {
    const reply = ServerReply.of(text === '' ? '{}' : text);
    if (status < 400) return read(reply);
    const [code, detail] = [reply.text('code'), reply.text('detail')];
    const known = errorTable.find((entry) => entry.code === code);
    throw known === undefined
      ? new StoreError(`${what} failed: HTTP ${status}: ${detail}${status === 401 ? TOKEN_HINT : ''}`)
      : new known.class(detail);
  } catch (error) {
    if (error instanceof IdError) throw error;
    throw new StoreError(`${what} failed: HTTP ${status}: ${(error as Error).message}`, { cause: error });
  }
}

const exact = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

function failureOf(cause: unknown): string {
  return (cause as Error | undefined)?.name === 'TimeoutError' ? 'no answer in time' : reasonOf(cause);
}
