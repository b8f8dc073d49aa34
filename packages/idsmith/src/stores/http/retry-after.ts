import type { HttpRequest } from './request.js';

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
