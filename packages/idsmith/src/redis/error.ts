import { IdError, StoreError } from '../errors.js';
import { reasonOf } from '../support/store-error.js';

/**
 * The `StoreError` for an error of a driver. An error of this library stays as it is.
 *
 * The `cause` is a copy with the message and the code, because the driver's own error holds the password after a failed login.
 *
 * @param subject the Redis in the message: `redis store` or `node 127.0.0.1:6379`
 * @param password a secret that the message must not show
 */
export function redisError(subject: string, operation: string, error: unknown, password?: string): IdError {
  if (error instanceof IdError) return error;
  const { code } = (error ?? {}) as { code?: unknown };
  const reason = reasonOf(error, password);
  const cause = Object.assign(new Error(reason), typeof code === 'string' && { code });
  return new StoreError(`${subject}: ${operation} failed: ${reason}`, { cause });
}
