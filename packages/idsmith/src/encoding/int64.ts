export const MIN_INT64 = -(2n ** 63n);
export const MAX_INT64 = 2n ** 63n - 1n;
export const MAX_UINT64 = 2n ** 64n - 1n;

/** Decimal digits without leading zeroes, so that a number has one text. */
const DECIMAL = /^(0|-?[1-9]\d{0,19})$/;

/** A bigint, or decimal text, from −2^63 to 2^64 − 1; `undefined` for any other value. */
export function readInt64(value: unknown): bigint | undefined {
  const number = typeof value === 'string' && DECIMAL.test(value) ? BigInt(value) : value;
  if (typeof number !== 'bigint' || number < MIN_INT64 || number > MAX_UINT64) return undefined;
  return number;
}
