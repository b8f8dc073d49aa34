/** An object that somebody else made. Its members may be missing, and be anything. */
export interface Foreign {
  readonly [member: PropertyKey]: unknown;
  readonly rows?: unknown;
  readonly totalCount?: unknown;
  readonly dialect?: unknown;
  readonly client?: unknown;
  readonly options?: unknown;
  readonly type?: unknown;
  readonly finished?: unknown;
  readonly isTransaction?: unknown;
  readonly isTransactionActive?: unknown;
  readonly queryRunner?: unknown;
  readonly dataSource?: unknown;
  readonly connection?: unknown;
  readonly sequelize?: unknown;
  readonly supportsOutput?: unknown;
  readonly supportsReturning?: unknown;
  readonly supportsTransactionalDdl?: unknown;
  readonly _activeProvider?: unknown;
  readonly code?: unknown;
  readonly errno?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly original?: unknown;
  readonly driverError?: unknown;
}

/** True if `value` has members: an object, or a function with members as some drivers have. */
export const isForeign = (value: unknown): value is Foreign =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/** Tells whether `value` has methods of all these names. */
export const hasMethods = (value: unknown, ...names: string[]): value is Foreign =>
  isForeign(value) && names.every((name) => typeof value[name] === 'function');

/** The result of a method that is known by its name only. */
export const call = (object: Foreign, method: string, ...args: unknown[]): unknown =>
  (object[method] as (...args: unknown[]) => unknown).apply(object, args);

/** The rows in a driver's answer: a list of rows, an answer with `rows`, or a list of rows followed by their fields. */
export function rowsIn(answer: unknown): unknown[] {
  if (isForeign(answer) && Array.isArray(answer.rows)) return answer.rows;
  return Array.isArray(answer) ? answer : [];
}

/** The rows in an answer of `mysql2`, which is a list: the rows or the outcome of a change, and the fields. */
export const firstRows = (answer: unknown) => rowsIn((answer as unknown[])[0]);
