const DIGITS = '0123456789abcdef';

/** The value of a hex digit's character code, or −1. */
export function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48; // 0-9
  const letter = code | 32; // A-F become a-f
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** The hex digits of the bytes, lower case. */
export function bytesToHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += DIGITS.charAt(byte >>> 4) + DIGITS.charAt(byte & 15);
  return text;
}

/** The bytes of an even number of hex digits of either case; `undefined` for any other text. */
export function hexToBytes(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    const high = hexDigit(text.charCodeAt(2 * i));
    const low = hexDigit(text.charCodeAt(2 * i + 1));
    if (high < 0 || low < 0) return undefined;
    bytes[i] = (high << 4) | low;
  }
  return bytes;
}

/** The SHA-256 of a text, 64 digits. */
export async function sha256Hex(text: string): Promise<string> {
  return bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}

/** The four bytes of a 32-bit number in reverse order: `0x12345678` becomes `0x78563412`. Signed. */
export function reverseBytes(word: number): number {
  return (word >>> 24) | ((word >>> 8) & 0xff00) | ((word << 8) & 0xff0000) | (word << 24);
}

/** The two hex digits of each byte of a 32-bit number swapped: `0x12345678` becomes `0x21436587`. Signed. */
export function swapNibbles(word: number): number {
  return ((word >>> 4) & 0x0f0f0f0f) | ((word & 0x0f0f0f0f) << 4);
}
