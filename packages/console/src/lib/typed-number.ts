// What people type into fields, checked as far as it must be to be sent. What is in range, the server decides.

/** What was typed, or what is wrong with it; nothing if the field was left empty. */
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
