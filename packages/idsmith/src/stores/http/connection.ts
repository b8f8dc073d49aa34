import { bytesToHex } from '../../encoding/hex.js';
import { errorTable, IdError, StoreError } from '../../errors.js';
import { Answer } from './answer.js';

/** A request to a server, and how it may be sent. */
export interface HttpRequest {
  /** What is being done, for errors: `allocating from sequence "orders"`. */
  readonly what: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  /**
   * Whether it may be sent again when its answer was lost. Then either the server remembers the answer, or to do it twice
   * does no harm.
   */
  readonly isRepeatable: boolean;
}

/** Asks the server; what it answers, read by `read`, which throws when it is not what was expected. */
export type AskServer = <T>(request: HttpRequest, read: (answer: Answer) => T) => Promise<T>;

export interface HttpTransport {
  /** Where the server is, without a slash at its end. */
  readonly base: string;
  readonly token: string | undefined;
  /** For each time that it is sent, ms. */
  readonly timeout: number;
  readonly fetch: typeof fetch;
}

/** How often a request is sent at most. */
const TRIES = 3;

/** Before it is sent again, ms, twice as long each time. */
const PAUSE = 100;

/** Of a connection that was not made. */
const NEVER_SENT: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT'];

/** Asks a server, and asks it again where that can do no harm. */
export function serverAsker(transport: HttpTransport): AskServer {
  return async (request, read) => {
    const what = `http store: ${request.what} at ${transport.base}`;
    const key = request.method === 'GET' ? undefined : randomKey();
    for (let tries = 1; ; tries++) {
      try {
        const { status, text } = await send(transport, request, key, tries);
        return understand(what, status, text, read);
      } catch (error) {
        if (error instanceof IdError) throw error;
        const cause = underlying(error);
        const again = request.isRepeatable || wasNeverSent(cause);
        if (tries === TRIES || !again) throw new StoreError(`${what} failed: ${reasonOf(cause)}`, { cause });
        // Jitter, so that those whom a server has left do not all come back at once.
        const pause = PAUSE * 2 ** tries * (0.5 + Math.random() / 2);
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  };
}

async function send(
  { base, token, timeout, fetch: ask }: HttpTransport,
  { method, path, body }: HttpRequest,
  key: string | undefined,
  tries: number,
): Promise<{ status: number; text: string }> {
  const response = await ask(base + path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body, exact) }),
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(key !== undefined && { 'idempotency-key': key, 'idsmith-try': String(tries) }),
    },
    // A token goes to the server that it is for, and nowhere else.
    redirect: 'error',
    signal: AbortSignal.timeout(timeout),
  });
  return { status: response.status, text: await response.text() };
}

/**
 * What an answer says.
 *
 * @throws the error that it tells of: the library's own if it is one of these, else a StoreError
 */
function understand<T>(what: string, status: number, text: string, read: (answer: Answer) => T): T {
  try {
    const answer = Answer.of(text === '' ? '{}' : text);
    if (status < 400) return read(answer);
    const [code, detail] = [answer.text('code'), answer.text('detail')];
    const known = errorTable.find((entry) => entry.code === code);
    throw known === undefined
      ? new StoreError(`${what} failed: HTTP ${status}: ${detail}`)
      : new known.class(detail);
  } catch (error) {
    if (error instanceof IdError) throw error;
    throw new StoreError(`${what} failed: HTTP ${status}: ${(error as Error).message}`, { cause: error });
  }
}

function randomKey(): string {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(16)));
}

const exact = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

/** `fetch` says only that it failed, and keeps the reason in the cause. */
const underlying = (error: unknown) => (error as { cause?: unknown } | undefined)?.cause ?? error;

function wasNeverSent(cause: unknown): boolean {
  const { code, syscall } = (cause ?? {}) as { code?: unknown; syscall?: unknown };
  return syscall === 'connect' || NEVER_SENT.includes(code);
}

function reasonOf(cause: unknown): string {
  const { name, message, code } = (cause ?? {}) as { name?: unknown; message?: unknown; code?: unknown };
  if (name === 'TimeoutError') return 'no answer in time';
  return String(message || code || cause);
}
