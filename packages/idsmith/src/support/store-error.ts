import { IdError, StoreError } from '../errors.js';
import { redact } from './redact.js';

/** The fields that drivers add to their errors, each driver in its own way. */
export interface DriverError {
  readonly message?: string;
  readonly code?: unknown;
  readonly errno?: unknown;
  readonly errcode?: unknown;
  readonly rawCode?: unknown;
}

/**
 * The `StoreError` for an error that a driver has thrown, with that error as its `cause`. An error of this library stays as
 * it is.
 *
 * @param what the operation that failed: `postgres store: listing leases`
 */
export function storeError(what: string, error: unknown): IdError {
  if (error instanceof IdError) return error;
  return new StoreError(`${what} failed: ${reasonOf(error)}`, { cause: error });
}

/** The reason that an error gives, without secrets. Drivers may quote a URL with its password. */
export function reasonOf(error: unknown, ...secrets: readonly (string | undefined)[]): string {
  const { message, code, errors } = (error ?? {}) as DriverError & { errors?: unknown };
  // Node leaves the message empty when every address of a host refused, and has an error for each address.
  const each = Array.isArray(errors) && !message ? errors.map((one) => reasonOf(one, ...secrets)) : [];
  return [...new Set(each)].join('; ') || redact(message || String(code ?? error), ...secrets);
}
