import { plainText } from '../../stores/sql/values.js';

/** The values of a row as texts, in the order of its columns. */
export function fieldsOf(row: Record<string, unknown> | undefined): (string | undefined)[] {
  return Object.values(row ?? {}).map((value) =>
    value === null || value === undefined ? undefined : plainText(value),
  );
}

/** A whole number from its text; 0 where there is none. */
export const whole = (text: string | undefined) => BigInt(text ?? '0');
