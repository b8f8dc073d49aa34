import { md5 } from 'idsmith/internal';

// The position of a key on the ring is the first word of its MD5. Most of the time of a lookup goes into this hash, so
// the hash of a short ASCII key is written out here for speed: one block of 64 bytes, no allocation, words made directly
// from character codes. `encoding/md5.ts` hashes all other keys.

/** The block of the current key: sixteen little-endian words. The last word stays 0. */
const words = new Int32Array(16);

const encoder = new TextEncoder();

/** The first four bytes of the MD5 of `key` in UTF-8, read as a little-endian number. */
export function keyHash(key: string): number {
  const { length } = key;
  if (length > 55) return longHash(key);
  words.fill(0);
  for (let i = 0; i < length; i++) {
    const code = key.charCodeAt(i);
    if (code > 127) return longHash(key);
    words[i >> 2] = (words[i >> 2] as number) | (code << ((i & 3) << 3));
  }
  // A 1 bit ends the message. The message's length in bits ends the block.
  words[length >> 2] = (words[length >> 2] as number) | (0x80 << ((length & 3) << 3));
  words[14] = length << 3;
  return firstWord(words);
}

function longHash(key: string): number {
  return new DataView(md5(encoder.encode(key)).buffer).getUint32(0, true);
}

/**
 * The first word of the MD5 of one block. The code follows RFC 1321 step by step, with two differences: operands that are
 * known early are added first, and the last three steps are missing because they change other words only.
 */
function firstWord(block: Int32Array): number {
  const w0 = block[0] as number;
  const w1 = block[1] as number;
  const w2 = block[2] as number;
  const w3 = block[3] as number;
  const w4 = block[4] as number;
  const w5 = block[5] as number;
  const w6 = block[6] as number;
  const w7 = block[7] as number;
  const w8 = block[8] as number;
  const w9 = block[9] as number;
  const w10 = block[10] as number;
  const w11 = block[11] as number;
  const w12 = block[12] as number;
  const w13 = block[13] as number;
  const w14 = block[14] as number;
  let a = 0x67452301;
  let b = 0xefcdab89 | 0;
  let c = 0x98badcfe | 0;
  let d = 0x10325476;

  // Round 1.
  a = (((a + w0 + 0xd76aa478) | 0) + (((c ^ d) & b) ^ d)) | 0;
  a = (((a << 7) | (a >>> 25)) + b) | 0;
  d = (((d + w1 + 0xe8c7b756) | 0) + (((b ^ c) & a) ^ c)) | 0;
  d = (((d << 12) | (d >>> 20)) + a) | 0;
  c = (((c + w2 + 0x242070db) | 0) + (((a ^ b) & d) ^ b)) | 0;
  c = (((c << 17) | (c >>> 15)) + d) | 0;
  b = (((b + w3 + 0xc1bdceee) | 0) + (((d ^ a) & c) ^ a)) | 0;
  b = (((b << 22) | (b >>> 10)) + c) | 0;
  a = (((a + w4 + 0xf57c0faf) | 0) + (((c ^ d) & b) ^ d)) | 0;
  a = (((a << 7) | (a >>> 25)) + b) | 0;
  d = (((d + w5 + 0x4787c62a) | 0) + (((b ^ c) & a) ^ c)) | 0;
  d = (((d << 12) | (d >>> 20)) + a) | 0;
  c = (((c + w6 + 0xa8304613) | 0) + (((a ^ b) & d) ^ b)) | 0;
  c = (((c << 17) | (c >>> 15)) + d) | 0;
  b = (((b + w7 + 0xfd469501) | 0) + (((d ^ a) & c) ^ a)) | 0;
  b = (((b << 22) | (b >>> 10)) + c) | 0;
  a = (((a + w8 + 0x698098d8) | 0) + (((c ^ d) & b) ^ d)) | 0;
  a = (((a << 7) | (a >>> 25)) + b) | 0;
  d = (((d + w9 + 0x8b44f7af) | 0) + (((b ^ c) & a) ^ c)) | 0;
  d = (((d << 12) | (d >>> 20)) + a) | 0;
  c = (((c + w10 + 0xffff5bb1) | 0) + (((a ^ b) & d) ^ b)) | 0;
  c = (((c << 17) | (c >>> 15)) + d) | 0;
  b = (((b + w11 + 0x895cd7be) | 0) + (((d ^ a) & c) ^ a)) | 0;
  b = (((b << 22) | (b >>> 10)) + c) | 0;
  a = (((a + w12 + 0x6b901122) | 0) + (((c ^ d) & b) ^ d)) | 0;
  a = (((a << 7) | (a >>> 25)) + b) | 0;
  d = (((d + w13 + 0xfd987193) | 0) + (((b ^ c) & a) ^ c)) | 0;
  d = (((d << 12) | (d >>> 20)) + a) | 0;
  c = (((c + w14 + 0xa679438e) | 0) + (((a ^ b) & d) ^ b)) | 0;
  c = (((c << 17) | (c >>> 15)) + d) | 0;
  b = (((b + 0x49b40821) | 0) + (((d ^ a) & c) ^ a)) | 0;
  b = (((b << 22) | (b >>> 10)) + c) | 0;

  // Round 2.
  a = (((a + w1 + 0xf61e2562 + (c & ~d)) | 0) + (b & d)) | 0;
  a = (((a << 5) | (a >>> 27)) + b) | 0;
  d = (((d + w6 + 0xc040b340 + (b & ~c)) | 0) + (a & c)) | 0;
  d = (((d << 9) | (d >>> 23)) + a) | 0;
  c = (((c + w11 + 0x265e5a51 + (a & ~b)) | 0) + (d & b)) | 0;
  c = (((c << 14) | (c >>> 18)) + d) | 0;
  b = (((b + w0 + 0xe9b6c7aa + (d & ~a)) | 0) + (c & a)) | 0;
  b = (((b << 20) | (b >>> 12)) + c) | 0;
  a = (((a + w5 + 0xd62f105d + (c & ~d)) | 0) + (b & d)) | 0;
  a = (((a << 5) | (a >>> 27)) + b) | 0;
  d = (((d + w10 + 0x02441453 + (b & ~c)) | 0) + (a & c)) | 0;
  d = (((d << 9) | (d >>> 23)) + a) | 0;
  c = (((c + 0xd8a1e681 + (a & ~b)) | 0) + (d & b)) | 0;
  c = (((c << 14) | (c >>> 18)) + d) | 0;
  b = (((b + w4 + 0xe7d3fbc8 + (d & ~a)) | 0) + (c & a)) | 0;
  b = (((b << 20) | (b >>> 12)) + c) | 0;
  a = (((a + w9 + 0x21e1cde6 + (c & ~d)) | 0) + (b & d)) | 0;
  a = (((a << 5) | (a >>> 27)) + b) | 0;
  d = (((d + w14 + 0xc33707d6 + (b & ~c)) | 0) + (a & c)) | 0;
  d = (((d << 9) | (d >>> 23)) + a) | 0;
  c = (((c + w3 + 0xf4d50d87 + (a & ~b)) | 0) + (d & b)) | 0;
  c = (((c << 14) | (c >>> 18)) + d) | 0;
  b = (((b + w8 + 0x455a14ed + (d & ~a)) | 0) + (c & a)) | 0;
  b = (((b << 20) | (b >>> 12)) + c) | 0;
  a = (((a + w13 + 0xa9e3e905 + (c & ~d)) | 0) + (b & d)) | 0;
  a = (((a << 5) | (a >>> 27)) + b) | 0;
  d = (((d + w2 + 0xfcefa3f8 + (b & ~c)) | 0) + (a & c)) | 0;
  d = (((d << 9) | (d >>> 23)) + a) | 0;
  c = (((c + w7 + 0x676f02d9 + (a & ~b)) | 0) + (d & b)) | 0;
  c = (((c << 14) | (c >>> 18)) + d) | 0;
  b = (((b + w12 + 0x8d2a4c8a + (d & ~a)) | 0) + (c & a)) | 0;
  b = (((b << 20) | (b >>> 12)) + c) | 0;

  // Round 3.
  a = (((a + w5 + 0xfffa3942) | 0) + (c ^ d ^ b)) | 0;
  a = (((a << 4) | (a >>> 28)) + b) | 0;
  d = (((d + w8 + 0x8771f681) | 0) + (b ^ c ^ a)) | 0;
  d = (((d << 11) | (d >>> 21)) + a) | 0;
  c = (((c + w11 + 0x6d9d6122) | 0) + (a ^ b ^ d)) | 0;
  c = (((c << 16) | (c >>> 16)) + d) | 0;
  b = (((b + w14 + 0xfde5380c) | 0) + (d ^ a ^ c)) | 0;
  b = (((b << 23) | (b >>> 9)) + c) | 0;
  a = (((a + w1 + 0xa4beea44) | 0) + (c ^ d ^ b)) | 0;
  a = (((a << 4) | (a >>> 28)) + b) | 0;
  d = (((d + w4 + 0x4bdecfa9) | 0) + (b ^ c ^ a)) | 0;
  d = (((d << 11) | (d >>> 21)) + a) | 0;
  c = (((c + w7 + 0xf6bb4b60) | 0) + (a ^ b ^ d)) | 0;
  c = (((c << 16) | (c >>> 16)) + d) | 0;
  b = (((b + w10 + 0xbebfbc70) | 0) + (d ^ a ^ c)) | 0;
  b = (((b << 23) | (b >>> 9)) + c) | 0;
  a = (((a + w13 + 0x289b7ec6) | 0) + (c ^ d ^ b)) | 0;
  a = (((a << 4) | (a >>> 28)) + b) | 0;
  d = (((d + w0 + 0xeaa127fa) | 0) + (b ^ c ^ a)) | 0;
  d = (((d << 11) | (d >>> 21)) + a) | 0;
  c = (((c + w3 + 0xd4ef3085) | 0) + (a ^ b ^ d)) | 0;
  c = (((c << 16) | (c >>> 16)) + d) | 0;
  b = (((b + w6 + 0x04881d05) | 0) + (d ^ a ^ c)) | 0;
  b = (((b << 23) | (b >>> 9)) + c) | 0;
  a = (((a + w9 + 0xd9d4d039) | 0) + (c ^ d ^ b)) | 0;
  a = (((a << 4) | (a >>> 28)) + b) | 0;
  d = (((d + w12 + 0xe6db99e5) | 0) + (b ^ c ^ a)) | 0;
  d = (((d << 11) | (d >>> 21)) + a) | 0;
  c = (((c + 0x1fa27cf8) | 0) + (a ^ b ^ d)) | 0;
  c = (((c << 16) | (c >>> 16)) + d) | 0;
  b = (((b + w2 + 0xc4ac5665) | 0) + (d ^ a ^ c)) | 0;
  b = (((b << 23) | (b >>> 9)) + c) | 0;

  // Round 4.
  a = (((a + w0 + 0xf4292244) | 0) + (c ^ (b | ~d))) | 0;
  a = (((a << 6) | (a >>> 26)) + b) | 0;
  d = (((d + w7 + 0x432aff97) | 0) + (b ^ (a | ~c))) | 0;
  d = (((d << 10) | (d >>> 22)) + a) | 0;
  c = (((c + w14 + 0xab9423a7) | 0) + (a ^ (d | ~b))) | 0;
  c = (((c << 15) | (c >>> 17)) + d) | 0;
  b = (((b + w5 + 0xfc93a039) | 0) + (d ^ (c | ~a))) | 0;
  b = (((b << 21) | (b >>> 11)) + c) | 0;
  a = (((a + w12 + 0x655b59c3) | 0) + (c ^ (b | ~d))) | 0;
  a = (((a << 6) | (a >>> 26)) + b) | 0;
  d = (((d + w3 + 0x8f0ccc92) | 0) + (b ^ (a | ~c))) | 0;
  d = (((d << 10) | (d >>> 22)) + a) | 0;
  c = (((c + w10 + 0xffeff47d) | 0) + (a ^ (d | ~b))) | 0;
  c = (((c << 15) | (c >>> 17)) + d) | 0;
  b = (((b + w1 + 0x85845dd1) | 0) + (d ^ (c | ~a))) | 0;
  b = (((b << 21) | (b >>> 11)) + c) | 0;
  a = (((a + w8 + 0x6fa87e4f) | 0) + (c ^ (b | ~d))) | 0;
  a = (((a << 6) | (a >>> 26)) + b) | 0;
  d = (((d + 0xfe2ce6e0) | 0) + (b ^ (a | ~c))) | 0;
  d = (((d << 10) | (d >>> 22)) + a) | 0;
  c = (((c + w6 + 0xa3014314) | 0) + (a ^ (d | ~b))) | 0;
  c = (((c << 15) | (c >>> 17)) + d) | 0;
  b = (((b + w13 + 0x4e0811a1) | 0) + (d ^ (c | ~a))) | 0;
  b = (((b << 21) | (b >>> 11)) + c) | 0;
  a = (((a + w4 + 0xf7537e82) | 0) + (c ^ (b | ~d))) | 0;
  a = (((a << 6) | (a >>> 26)) + b) | 0;

  return (a + 0x67452301) >>> 0;
}
