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

let isUnlimited = false;

/**
 * Sends a command without the time limit of its client, because the caller has a limit of its own.
 *
 * @param send called at once; it must send the command before it waits for anything
 */
export function unlimited<T>(send: () => T): T {
  const before = isUnlimited;
  isUnlimited = true;
  try {
    return send();
  } finally {
    isUnlimited = before;
  }
}

/** Tells whether the command that is being sent has the time limit of its client. */
export function hasLimit(name: string, args: readonly unknown[]): boolean {
  return !isUnlimited && !isWaiting(name, args);
}

/** The error of a command without an answer. */
export function noAnswer(address: string, command: string, timeout: number, reason?: Error): StoreError {
  return new StoreError(
    `node ${address}: ${command} failed: ${reason?.message ?? `no answer within ${timeout} ms`}`,
    reason && { cause: reason },
  );
}
