import { hexDigit } from './hex.js';

/** The number of characters of a UUID's text. */
const LENGTH = 36;
/** The places of the first digits of the 16 bytes in the text. */
const PLACES = Uint8Array.of(0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34);
const HYPHENS = [8, 13, 18, 23];
const HYPHEN = 45;

/** The value of each character code below 128 as a hex digit; 0x100 for other characters. */
const VALUES = Int16Array.from({ length: 128 }, (_, code) => (hexDigit(code) < 0 ? 0x100 : hexDigit(code)));
const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Reads the 16 bytes of a UUID's text, of either case, into `target`. Returns false for any other text. */
export function readUuidText(text: string, target: Uint8Array): boolean {
  if (text.length !== LENGTH) return false;
  let wrong = 0;
  for (const place of HYPHENS) wrong |= text.charCodeAt(place) ^ HYPHEN;
  for (let i = 0; i < 16; i++) {
    const place = PLACES[i] as number;
    const high = VALUES[text.charCodeAt(place)] ?? 0x100;
    const low = VALUES[text.charCodeAt(place + 1)] ?? 0x100;
    wrong |= (high | low) & 0x100;
    target[i] = (high << 4) | low;
  }
  return wrong === 0;
}

/** The text of a UUID of 16 bytes, in lower case. */
export function writeUuidText(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) text += '-';
    text += PAIRS[bytes[i] as number];
  }
  return text;
}
