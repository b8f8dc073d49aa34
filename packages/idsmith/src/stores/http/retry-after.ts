import type { HttpRequest } from './request.js';

/** A reply, as it came. */
export interface HttpReply {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

/** Codes of refusals before anything was done. */
const NOT_DONE: readonly unknown[] = ['OVERLOADED', 'RATE_LIMITED'];

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
  const date = Date.parse(retryAfter);
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
