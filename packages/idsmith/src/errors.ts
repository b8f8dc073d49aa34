/** The stable codes of {@link IdError}. Switch on codes, not on messages. */
export type ErrorCode =
  | 'INVALID_ID'
  | 'INVALID_OPTION'
  | 'CLOCK'
  | 'LEASES_EXHAUSTED'
  | 'LEASE_FENCED'
  | 'NO_SUCH_SEQUENCE'
  | 'SEQUENCE_EXISTS'
  | 'SEQUENCE_EXHAUSTED'
  | 'UNSAFE_INTEGER'
  | 'STORE'
  | 'STORE_WENT_BACK'
  | 'TIME_EXHAUSTED'
  | 'CLOSED';

/** The causes of a {@link StoreError} that people act on. docs/errors.md says what to do about each. */
export type StoreReason =
  | 'PACKAGE_MISSING'
  | 'ACCESS_DENIED'
  | 'NOT_FOUND'
  | 'UNREACHABLE'
  | 'UNAVAILABLE'
  | 'TIMEOUT'
  | 'NO_CONNECTION'
  | 'READ_ONLY'
  | 'NO_SPACE'
  | 'LOCKED'
  | 'CONFLICT'
  | 'IN_TRANSACTION'
  | 'TRANSACTION_FAILED'
  | 'WRONG_TABLE'
  | 'NEWER_SCHEMA'
  | 'UNREADABLE'
  | 'NOT_INITIALISED'
  | 'REPLACED';

/** The base of all errors of idsmith: a stable `code`, a message that names the wrong value, and a `cause` if there is one. */
export class IdError extends Error {
  override readonly name: string = 'IdError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether an error has this code. It may be of another copy of this package: `tsx` loads two in a CommonJS project. */
export function hasCode(error: unknown, code: ErrorCode): error is IdError {
  return (error as Partial<IdError> | null | undefined)?.code === code;
}

/** Text or bytes are not an id of the family. */
export class InvalidIdError extends IdError {
  override readonly name = 'InvalidIdError';
  constructor(message: string, options?: ErrorOptions) {
    super('INVALID_ID', message, options);
  }
}

/** An option is out of range or of the wrong type. */
export class InvalidOptionError extends IdError {
  override readonly name = 'InvalidOptionError';
  constructor(message: string, options?: ErrorOptions) {
    super('INVALID_OPTION', message, options);
  }
}

/** The clock gives no time, went back further than allowed, or differs from the store's clock by more than allowed. */
export class ClockError extends IdError {
  override readonly name = 'ClockError';
  constructor(message: string, options?: ErrorOptions) {
    super('CLOCK', message, options);
  }
}

/** Every node id of the namespace is held. */
export class LeasesExhaustedError extends IdError {
  override readonly name = 'LeasesExhaustedError';
  /** The node ids that were held, of `size`; `undefined` if they were not counted. */
  readonly taken: number | undefined;
  /** The number of node ids of the namespace. */
  readonly size: number | undefined;

  constructor(
    message: string,
    options: ErrorOptions & { taken?: number | undefined; size?: number | undefined } = {},
  ) {
    super('LEASES_EXHAUSTED', message, options);
    this.taken = options.taken;
    this.size = options.size;
  }
}

/** The window of the generator's lease has ended, and the lease was not renewed in time. */
export class LeaseFencedError extends IdError {
  override readonly name = 'LeaseFencedError';
  constructor(message: string, options?: ErrorOptions) {
    super('LEASE_FENCED', message, options);
  }
}

/** The sequence is not defined. */
export class NoSuchSequenceError extends IdError {
  override readonly name = 'NoSuchSequenceError';
  constructor(message: string, options?: ErrorOptions) {
    super('NO_SUCH_SEQUENCE', message, options);
  }
}

/** A sequence of this name already exists. */
export class SequenceExistsError extends IdError {
  override readonly name = 'SequenceExistsError';
  constructor(message: string, options?: ErrorOptions) {
    super('SEQUENCE_EXISTS', message, options);
  }
}

/** The sequence has too few ids left for another block. */
export class SequenceExhaustedError extends IdError {
  override readonly name = 'SequenceExhaustedError';
  constructor(message: string, options?: ErrorOptions) {
    super('SEQUENCE_EXHAUSTED', message, options);
  }
}

/** The id is past 2^53 − 1 and does not fit a JavaScript number. */
export class UnsafeIntegerError extends IdError {
  override readonly name = 'UnsafeIntegerError';
  constructor(message: string, options?: ErrorOptions) {
    super('UNSAFE_INTEGER', message, options);
  }
}

/** The store failed or could not be reached; `cause` is the driver's error. */
export class StoreError extends IdError {
  override readonly name: string = 'StoreError';
  /** The cause, as a stable word: `LOCKED`, `UNREACHABLE` … `undefined` for a cause without a word. docs/errors.md says what to do. */
  readonly reason: StoreReason | undefined;
  constructor(message: string, { code = 'STORE', reason, ...options }: StoreErrorOptions = {}) {
    super(code, message, options);
    this.reason = reason;
  }
}

interface StoreErrorOptions extends ErrorOptions {
  readonly reason?: StoreReason | undefined;
  readonly code?: 'STORE' | 'STORE_WENT_BACK';
}

/** The store has lost acknowledged writes: a replica was promoted, a backup was restored, or another store has taken its place. */
export class StoreWentBackError extends StoreError {
  override readonly name = 'StoreWentBackError';
  constructor(message: string, options?: ErrorOptions) {
    super(message, { ...options, code: 'STORE_WENT_BACK' });
  }
}

/** The layout's time field has run out. */
export class TimeExhaustedError extends IdError {
  override readonly name = 'TimeExhaustedError';
  constructor(message: string, options?: ErrorOptions) {
    super('TIME_EXHAUSTED', message, options);
  }
}

/** The object was closed. */
export class ClosedError extends IdError {
  override readonly name = 'ClosedError';
  constructor(message: string, options?: ErrorOptions) {
    super('CLOSED', message, options);
  }
}

/** One row of {@link errorTable}. */
export interface ErrorEntry {
  readonly code: ErrorCode;
  readonly class: new (
    message: string,
    options?: ErrorOptions & { reason?: StoreReason | undefined },
  ) => IdError;
}

/** Every code and its class, in the order of the documentation. */
export const errorTable: readonly ErrorEntry[] = [
  { code: 'INVALID_ID', class: InvalidIdError },
  { code: 'INVALID_OPTION', class: InvalidOptionError },
  { code: 'CLOCK', class: ClockError },
  { code: 'LEASES_EXHAUSTED', class: LeasesExhaustedError },
  { code: 'LEASE_FENCED', class: LeaseFencedError },
  { code: 'NO_SUCH_SEQUENCE', class: NoSuchSequenceError },
  { code: 'SEQUENCE_EXISTS', class: SequenceExistsError },
  { code: 'SEQUENCE_EXHAUSTED', class: SequenceExhaustedError },
  { code: 'UNSAFE_INTEGER', class: UnsafeIntegerError },
  { code: 'STORE', class: StoreError },
  { code: 'STORE_WENT_BACK', class: StoreWentBackError },
  { code: 'TIME_EXHAUSTED', class: TimeExhaustedError },
  { code: 'CLOSED', class: ClosedError },
];
