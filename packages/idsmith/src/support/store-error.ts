import { IdError, StoreError, type StoreReason } from '../errors.js';

/**
 * The causes of a `StoreError` that people act on, and the signs of each in the errors of drivers: an SQLSTATE, a number of MySQL, a
 * code of SQLite or Node, the name of an error, the beginning of a message. A cause without signs is told by this library alone.
 */
export const storeReasons: Readonly<Record<StoreReason, RegExp | undefined>> = {
  PACKAGE_MISSING: undefined,
  ACCESS_DENIED:
    /^(28...|42501|1044|1045|1142|1143|1227|1370|1698|SQLITE_(PERM|AUTH|#3|#23)|EACCES|EPERM|NOAUTH|WRONGPASS|NOPERM|(AccessDenied|UnrecognizedClient|ExpiredToken)Exception|CredentialsProviderError|HTTP 40[13])\b/,
  NOT_FOUND:
    /^(3D000|3F000|42P01|1049|1146|SQLITE_CANTOPEN|SQLITE_#14|no such table|ENOENT|ResourceNotFoundException)\b/,
  UNREACHABLE:
    /^(08...|57P0[12]|ECONN\w+|EHOST\w+|ENET\w+|ENOTFOUND|EAI_AGAIN|EPIPE|UND_ERR_SOCKET|PROTOCOL_CONNECTION_LOST|Connection is closed|Connection terminated|Socket closed|the connection was lost)\b/,
  UNAVAILABLE:
    /^(57P03|1047|1053|WSREP_NOT_READY|LOADING|CLUSTERDOWN|MASTERDOWN|NOREPLICAS|(ProvisionedThroughputExceeded|Throttling)Exception|HTTP (429|503))\b/,
  TIMEOUT: /^(57014|1969|3024|TimeoutError|ETIMEDOUT|UND_ERR_\w+_TIMEOUT|Connection timeout)\b/,
  NO_CONNECTION: /^(53300|1040|1203|1226)\b/,
  READ_ONLY: /^(25006|1290|1792|1836|SQLITE_(READONLY|#8)|READONLY|EROFS)\b/,
  NO_SPACE: /^(53100|1021|1114|SQLITE_(FULL|#13)|ENOSPC|OOM|MISCONF)\b/,
  LOCKED: /^(55P03|1205|SQLITE_(BUSY|LOCKED|#5|#6))\b/,
  CONFLICT: /^(40001|40P01|1020|1213)\b/,
  IN_TRANSACTION: undefined,
  TRANSACTION_FAILED: /^25P02\b/,
  WRONG_TABLE: undefined,
  NEWER_SCHEMA: undefined,
  UNREADABLE: /^SQLITE_(CORRUPT|NOTADB|#11|#26)\b/,
  NOT_INITIALISED: undefined,
  REPLACED: undefined,
};

/** The fields that drivers add to their errors, each driver in its own way. */
export interface DriverError {
  readonly name?: string;
  readonly message?: string;
  readonly code?: unknown;
  readonly errno?: unknown;
  /** The number of SQLite, in the errors of `node:sqlite`. */
  readonly errcode?: unknown;
  /** The number of SQLite, in the errors of `libsql`. */
  readonly rawCode?: unknown;
}

/** An error that wraps another one. ORMs and `fetch` keep the error of the driver under different names. */
interface Wrapper {
  readonly cause?: unknown;
  readonly original?: unknown;
  readonly driverError?: unknown;
  readonly errors?: readonly unknown[];
}

/** The deepest wrapped error that is looked at. */
const DEPTH = 5;

/** The cause that an error of a driver tells, also inside the error of an ORM; `undefined` if it is none of {@link storeReasons}. */
export function storeReason(error: unknown): StoreReason | undefined {
  let next = error;
  for (let depth = 0; depth < DEPTH && typeof next === 'object' && next !== null; depth++) {
    const { name, message, code, errno, errcode = 0, rawCode = errcode } = next as DriverError;
    // SQLite adds the kind of an error in higher bytes, and behind the name: SQLITE_BUSY_SNAPSHOT.
    const number = `SQLITE_#${Number(rawCode) & 255}`;
    const short = String(code).replace(/^(SQLITE_[A-Z]+)_.*/, '$1');
    // A number at the beginning of a message is no code.
    const words = /^\D/.test(String(message)) ? message : '';
    const signs = [short, errno, number, name, words].map(String);
    for (const [reason, sign] of Object.entries(storeReasons))
      if (sign !== undefined && signs.some((each) => sign.test(each))) return reason as StoreReason;
    const { cause, original, driverError, errors } = next as Wrapper;
    next = cause ?? original ?? driverError ?? errors?.[0];
  }
  return undefined;
}

/** The way out for a user who lacks a right on a table. */
const RIGHTS_HINT = 'npx idsmith init --print --store URL prints all rights that programs need';

/**
 * The `StoreError` for an error that a driver has thrown, with that error as its `cause`. An error of this library stays as
 * it is.
 *
 * @param what the operation that failed: `postgres store: listing leases`
 */
export function storeError(what: string, error: unknown): IdError {
  if (error instanceof IdError) return error;
  const reason = storeReason(error);
  const isRight = [42501, 1142, 1143].includes(
    Number((error as DriverError)?.errno ?? (error as DriverError)?.code),
  );
  const hint = isRight ? `. ${RIGHTS_HINT}` : '';
  return new StoreError(`${what} failed: ${reasonOf(error)}${hint}`, { cause: error, reason });
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
