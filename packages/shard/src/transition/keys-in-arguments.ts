import { InvalidOptionError } from 'idsmith/internal';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The length in bytes from which an argument counts as a value, and is not searched for keys. */
const MAX_KEY_BYTES = 1024;

/** The depth of arrays and objects that is searched for keys. */
const MAX_DEPTH = 3;

/**
 * Finds the keys of a stem in the arguments of a method: texts and bytes, at some depth of arrays and objects, like
 * `{ keys: [...] }`. A value that looks like such a key counts as a key, which does no harm.
 */
export function keysInArguments(stem: string, args: readonly unknown[]): string[] {
  const keys: string[] = [];
  for (const arg of args) collect(stem, arg, keys, 0);
  return keys;
}

function collect(stem: string, value: unknown, keys: string[], depth: number): void {
  if (typeof value === 'string') {
    if (isOfStem(stem, value)) keys.push(value);
  } else if (value instanceof Uint8Array) {
    if (value.length < MAX_KEY_BYTES && startsWith(value, stem)) collectBytes(stem, value, keys);
  } else if (Array.isArray(value)) {
    if (depth < MAX_DEPTH) for (const item of value) collect(stem, item, keys, depth + 1);
  } else if (typeof value === 'object' && value !== null && depth < MAX_DEPTH) {
    for (const item of Object.values(value)) collect(stem, item, keys, depth + 1);
  }
}

function isOfStem(stem: string, text: string): boolean {
  return text.startsWith(stem) && (text.length === stem.length || text.charAt(stem.length) === '-');
}

/** Compares bytes with a stem, which is ASCII. */
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
      `a key must be UTF-8 text while keys are moved: the bytes that begin with ${stem} are not`,
    );
  }
}
