// Numbers that users type into fields. The server checks their range.

/** A typed value, or the error in it. The value of an empty field is `undefined`. */
export type Typed<T> = { readonly value: T | undefined } | { readonly error: string };

/** A whole number of any size, as digits. */
export function typedDigits(label: string, text: string): Typed<string> {
  const trimmed = text.trim();
  if (trimmed === '') return { value: undefined };
  if (!/^[-−+]?\d{1,30}$/.test(trimmed)) return { error: `${label} must be a whole number.` };
  return { value: BigInt(trimmed.replace('−', '-').replace('+', '')).toString() };
}

/** A whole number that a JavaScript number holds exactly. */
export function typedNumber(label: string, text: string): Typed<number> {
  const typed = typedDigits(label, text);
  if ('error' in typed || typed.value === undefined) return typed as Typed<number>;
  const value = Number(typed.value);
  return Number.isSafeInteger(value) ? { value } : { error: `${label} must be within ±(2^53 − 1).` };
}
