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
export function noAnswer(address: string, command: string, timeout: number, reason?: Error): StoreError {
  return new StoreError(
    `node ${address}: ${command} failed: ${reason?.message ?? `no answer within ${timeout} ms`}`,
    reason === undefined ? { reason: 'TIMEOUT' } : { cause: reason },
  );
}
