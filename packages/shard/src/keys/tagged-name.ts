/** A key with a suffix, like `1jyVFw3401-part`. */
const SUFFIXED = /^([0-9A-Za-z]+)(-.*)$/s;

/** The same key with its stem as a hash tag, like `{1jyVFw3401}-part`. */
const TAGGED = /^\{([0-9A-Za-z]+)\}(-.*)$/s;

/**
 * The name of a key in a Redis Cluster. A key without a suffix keeps its name. A key with a suffix gets its stem as a hash tag:
 * `K-part` becomes `{K}-part`. So both are in the slot of `K`.
 */
export function taggedName(key: string): string;
export function taggedName(key: string | Uint8Array): string | Uint8Array;
export function taggedName(key: string | Uint8Array): string | Uint8Array {
  return rename(key, SUFFIXED, '{$1}$2');
}

/** The inverse of `taggedName`. */
export function untaggedName(name: string | Uint8Array): string | Uint8Array {
  return rename(name, TAGGED, '$1$2');
}

/** Tells whether a name looks like one that `taggedName` makes. A ring key with such a name has no place in a cluster. */
export function isTagged(name: string): boolean {
  return TAGGED.test(name);
}

function rename(name: string | Uint8Array, form: RegExp, next: string): string | Uint8Array {
  if (typeof name === 'string') return name.replace(form, next);
  return Buffer.from(Buffer.from(name).toString('latin1').replace(form, next), 'latin1');
}
