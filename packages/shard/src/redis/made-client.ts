import { StoreError } from 'idsmith/internal';

/** A client that the map has made. */
export interface MadeClient {
  /** The client for users of the map. Its commands fail when their time is over. */
  readonly client: unknown;
  /** Sends a command of the library itself. */
  send(parts: readonly (string | Uint8Array)[], options: SendOptions): Promise<unknown>;
  end(): void;
}

/** Options of {@link MadeClient.send}. */
interface SendOptions {
  /** The time after which the caller no longer waits, ms. */
  readonly limit: number;
  /** Text in the reply comes as bytes. */
  readonly inBytes: boolean;
}

/** Commands that wait for something, like `BLPOP`. They have no time limit. */
const WAITING =
  /^(b[lr]pop|brpoplpush|bl?move|bl?mpop|bzpop(min|max)|bzmpop|wait|waitaof|p?subscribe|ssubscribe|monitor|sync|psync)$/;

/** Tells whether a command waits for something that other clients do. */
export function isWaiting(name: string, args: readonly unknown[]): boolean {
  const command = name.toLowerCase().replace(/buffer$/, '');
  if (!/^xread(group)?$/.test(command)) return WAITING.test(command);
  return args.some((arg) => /^block$/i.test(String(arg)) || Object.hasOwn(Object(arg), 'BLOCK'));
}

/** The time limit of a command, ms; `undefined` for a command that waits. */
export interface CommandLimit {
  readonly limit: number | undefined;
  /** The caller fails by itself when the time is over. */
  readonly isCallers: boolean;
}

/** The limit of a command that a user of the map sends. */
export function limitOf(name: string, args: readonly unknown[], timeout: number): CommandLimit {
  return { limit: isWaiting(name, args) ? undefined : timeout, isCallers: false };
}

/** The error of a command without an answer. */
export function unanswered(address: string, command: string, timeout: number, reason?: Error): StoreError {
  return new StoreError(
    `node ${address}: ${command} failed: ${reason?.message ?? `no answer within ${timeout} ms`}`,
    reason === undefined ? { reason: 'TIMEOUT' } : { cause: reason },
  );
}

/** What is expected of a command. */
export interface Expectation {
  /** The longest time until the answer, ms; `undefined` for a command that waits for something. */
  readonly limit: number | undefined;
  /** Called when the time is over. */
  late(): void;
}

/**
 * Watches the answers on one connection. A router may forget a connection that both sides take for open: then nothing is ever
 * answered on it, and no driver replaces it. Redis answers in order, so a command without an answer in time means that, unless
 * an older command still has time.
 */
export class AnswerWatch {
  /** The commands without an answer, the oldest first, each with the number of the connection it was sent on. */
  readonly #waiting = new Map<Expectation, number>();
  readonly #renew: () => void;
  #connection = 0;

  /** @param renew replaces the connection */
  constructor(renew: () => void) {
    this.#renew = renew;
  }

  /** @returns a function to call when the command has its answer, or has failed */
  sent(expectation: Expectation): () => void {
    this.#waiting.set(expectation, this.#connection);
    const { limit } = expectation;
    const timer = limit === undefined ? undefined : setTimeout(() => this.#expire(expectation), limit);
    return () => {
      clearTimeout(timer);
      this.#waiting.delete(expectation);
    };
  }

  #expire(expectation: Expectation): void {
    const [oldest] = this.#waiting.keys();
    const connection = this.#waiting.get(expectation);
    this.#waiting.delete(expectation);
    expectation.late();
    // A command of the connection before says nothing about the new one.
    if (oldest !== expectation || connection !== this.#connection) return;
    this.#connection++;
    this.#renew();
  }
}
