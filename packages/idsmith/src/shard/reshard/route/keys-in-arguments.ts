import { InvalidOptionError } from '../../../errors.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The keys of a stem among what a method was called with: texts and bytes, also within arrays and objects, as
 * `{ keys: [...] }`. A value that reads like such a key counts as one, which does no harm.
 */
export function mentioned(stem: string, args: readonly unknown[]): string[] {
  const keys: string[] = [];
  for (const arg of args) collect(stem, arg, keys, 0);
  return keys;
}

function collect(stem: string, value: unknown, keys: string[], depth: number): void {
  if (typeof value === 'string') {
    if (isOfStem(stem, value)) keys.push(value);
  } else if (value instanceof Uint8Array) {
    // As long as a key may be; values are longer, and need not be looked through.
    if (value.length < 1024 && startsWith(value, stem)) collectBytes(stem, value, keys);
  } else if (Array.isArray(value)) {
    if (depth < 3) for (const item of value) collect(stem, item, keys, depth + 1);
  } else if (typeof value === 'object' && value !== null && depth < 3) {
    for (const item of Object.values(value)) collect(stem, item, keys, depth + 1);
  }
}

function isOfStem(stem: string, text: string): boolean {
  return text.startsWith(stem) && (text.length === stem.length || text.charCodeAt(stem.length) === 45);
}

/** A stem is ASCII. */
function startsWith(bytes: Uint8Array, stem: string): boolean {
  if (bytes.length < stem.length) return false;
  for (let i = 0; i < stem.length; i++) if (bytes[i] !== stem.charCodeAt(i)) return false;
  return true;
}

function collectBytes(stem: string, bytes: Uint8Array, keys: string[]): void {
  try {
    collect(stem, utf8.decode(bytes), keys, 0);
  } catch {
    throw new InvalidOptionError(
      `a key must be text while keys are moved, not bytes that are none (${stem}-…)`,
    );
  }
}
