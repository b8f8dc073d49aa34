// Statements select columns as text, so that no driver rounds them. Depending on its settings, a driver gives text as a
// string, as bytes or as a number.

/**
 * A column that must be a whole number within ±(2^53 − 1).
 *
 * @throws RangeError naming the column
 */
export function exactInteger(column: string, value: unknown): number {
  const text = plainText(value);
  const number = WHOLE.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw new RangeError(`${column} is ${text}, not a whole number within ±(2^53 − 1)`);
}

/**
 * A column that must be a whole number.
 *
 * @throws RangeError naming the column
 */
export function exactBigInt(column: string, value: unknown): bigint {
  const text = plainText(value);
  if (WHOLE.test(text)) return BigInt(text);
  throw new RangeError(`${column} is ${text}, not a whole number`);
}

/** The first column of the first row, a whole number. */
export function onlyInteger(rows: readonly unknown[]): number {
  return exactInteger('the answer', Object.values(rows[0] as object)[0]);
}

/** Text that some drivers give as bytes. */
export function plainText(value: unknown): string {
  return value instanceof Uint8Array
    ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(value)
    : String(value);
}

const WHOLE = /^-?\d+$/;
