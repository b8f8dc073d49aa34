/** The four bytes of a 32-bit number in reverse order: `0x12345678` becomes `0x78563412`. Signed. */
export function reverseBytes(word: number): number {
  return (word >>> 24) | ((word >>> 8) & 0xff00) | ((word << 8) & 0xff0000) | (word << 24);
}

/** The two hex digits of each byte of a 32-bit number swapped: `0x12345678` becomes `0x21436587`. Signed. */
export function swapNibbles(word: number): number {
  return ((word >>> 4) & 0x0f0f0f0f) | ((word & 0x0f0f0f0f) << 4);
}
