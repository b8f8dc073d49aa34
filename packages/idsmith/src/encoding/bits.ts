/** The eight hex digits of a 32-bit number in reverse order: `0x12345678` becomes `0x87654321`. Signed. */
export function reverseNibbles(word: number): number {
  const swapped = ((word >>> 4) & 0x0f0f0f0f) | ((word & 0x0f0f0f0f) << 4);
  return (swapped >>> 24) | ((swapped >>> 8) & 0xff00) | ((swapped << 8) & 0xff0000) | (swapped << 24);
}

/** 48 bits, big-endian. */
export function readUint48(bytes: Uint8Array, offset: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return view.getUint16(offset) * 2 ** 32 + view.getUint32(offset + 2);
}

/** The upper 16 of 48 bits. Shifts would see only the lower 32. */
export function high16(value: number): number {
  return Math.floor(value / 2 ** 32) & 0xffff;
}
