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
/** The number of slots of a Redis Cluster. */
export const SLOTS = 16_384;

const [OPEN, CLOSE] = [0x7b, 0x7d];

/** The slot of a key: CRC-16 (XMODEM) of its hash tag, or of its whole name if it has none. */
export function slotOf(name: string | Uint8Array): number {
  const bytes = typeof name === 'string' ? new TextEncoder().encode(name) : name;
  const open = bytes.indexOf(OPEN);
  const close = open < 0 ? -1 : bytes.indexOf(CLOSE, open + 1);
  // The tag is the text between the first `{` and the next `}`. An empty tag is none.
  return crc16(close > open + 1 ? bytes.subarray(open + 1, close) : bytes) % SLOTS;
}

/** A short text whose slot is the given one, to be used as a hash tag. The same slot always has the same tag. */
export function tagOfSlot(slot: number): string {
  tags ??= findTags();
  return tags[slot] as string;
}

let tags: readonly string[] | undefined;

function findTags(): string[] {
  const found: string[] = new Array(SLOTS);
  let missing = SLOTS;
  for (let number = 0; missing > 0; number++) {
    const tag = number.toString(36);
    const slot = slotOf(tag);
    if (found[slot] !== undefined) continue;
    found[slot] = tag;
    missing--;
  }
  return found;
}

function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc;
}
