import { StoreError } from '../../errors.js';

/** Commands that wait for something, like `BLPOP`. They have no time limit. */
const WAITING =
  /^(b[lr]pop|brpoplpush|bl?move|bl?mpop|bzpop(min|max)|bzmpop|wait|waitaof|p?subscribe|ssubscribe|monitor|sync|psync)$/;

/** Tells whether a command waits for something that other clients do. */
export function isWaiting(name: string, args: readonly unknown[]): boolean {
  const command = name.toLowerCase().replace(/buffer$/, '');
  if (!/^xread(group)?$/.test(command)) return WAITING.test(command);
  return args.some((arg) => /^block$/i.test(String(arg)) || Object.hasOwn(Object(arg), 'BLOCK'));
}

let callersLimit: number | undefined;

/**
 * Sends a command whose caller has a time limit of its own, and fails by itself when the time is over.
 *
 * @param ms the caller's limit
 * @param send called at once; it must send the command before it waits for anything
 */
export function limitedByCaller<T>(ms: number, send: () => T): T {
  const before = callersLimit;
  callersLimit = ms;
  try {
    return send();
  } finally {
    callersLimit = before;
  }
}

/** The time limit of the command that is being sent, and whether it is the caller's. A command that waits has none. */
export function limitOf(
  name: string,
  args: readonly unknown[],
  timeout: number,
): { limit: number | undefined; isCallers: boolean } {
  if (callersLimit !== undefined) return { limit: callersLimit, isCallers: true };
  return { limit: isWaiting(name, args) ? undefined : timeout, isCallers: false };
}

/** The error of a command without an answer. */
export function noAnswer(address: string, command: string, timeout: number, reason?: Error): StoreError {
  return new StoreError(
    `node ${address}: ${command} failed: ${reason?.message ?? `no answer within ${timeout} ms`}`,
    reason && { cause: reason },
  );
}
