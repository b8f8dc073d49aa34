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
