import { IdError, StoreError } from '../errors.js';
import { type DriverError, storeReason } from './driver-error.js';

/**
 * The `StoreError` for an error that a driver has thrown, with that error as its `cause`. An error of this library stays as
 * it is.
 *
 * @param what the operation that failed: `postgres store: listing leases`
 */
export function storeError(what: string, error: unknown): IdError {
  if (error instanceof IdError) return error;
  return new StoreError(`${what} failed: ${reasonOf(error)}`, { cause: error, reason: storeReason(error) });
}

/** The reason that an error gives, without secrets. Drivers may quote a URL with its password. */
export function reasonOf(error: unknown, ...secrets: readonly (string | undefined)[]): string {
  const { message, code, errors } = (error ?? {}) as DriverError & { errors?: unknown };
  // Node leaves the message empty when every address of a host refused, and has an error for each address.
  const each = Array.isArray(errors) && !message ? errors.map((one) => reasonOf(one, ...secrets)) : [];
  return [...new Set(each)].join('; ') || redact(message || String(code ?? error), ...secrets);
}

/**
 * Text without secrets, for error messages: user and password of every URL become `***`, and so do the given secrets.
 *
 * @example
 * redact('cannot reach redis://app:hunter2@db'); // 'cannot reach redis://***@db'
 */
export function redact(text: string, ...secrets: readonly (string | undefined)[]): string {
  let shown = text.replace(/:\/\/[^\s/]*@/g, '://***@');
  for (const secret of secrets) if (secret) shown = shown.replaceAll(secret, '***');
  return shown;
}

/** Errors of a connection that was never made. */
const NEVER_SENT: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT'];

/** The reason of an error of `fetch`, which keeps the reason in its `cause`. */
export function fetchCause(error: unknown): unknown {
  return (error as { cause?: unknown } | undefined)?.cause ?? error;
}

/** Tells whether a request with this {@link fetchCause} certainly did not reach the server. */
export function wasNeverSent(cause: unknown): boolean {
  const { code, syscall } = (cause ?? {}) as { code?: unknown; syscall?: unknown };
  return syscall === 'connect' || NEVER_SENT.includes(code);
}
