// MD5 (RFC 1321), to compute the same seeds and ring positions as other programs; never for security. It is implemented here
// because browsers have no MD5 and a FIPS build of Node refuses it.

const SHIFTS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];

/** The 64 constants of the standard: floor(2^32 × |sin(i + 1)|). */
const SINES = Int32Array.from({ length: 64 }, (_, i) => Math.floor(2 ** 32 * Math.abs(Math.sin(i + 1))));

/** The 16-byte MD5 digest of `message`. */
export function md5(message: Uint8Array): Uint8Array {
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  const padded = pad(message);
  for (let offset = 0; offset < padded.byteLength; offset += 64) {
    mix(state, new DataView(padded.buffer, offset, 64));
  }
  const digest = new DataView(new ArrayBuffer(16));
  state.forEach((word, i) => {
    digest.setInt32(4 * i, word, true);
  });
  return new Uint8Array(digest.buffer);
}

/** The message, a 1 bit, zeroes up to the last 8 bytes of a block, and the length in bits. */
function pad(message: Uint8Array): Uint8Array {
  const padded = new Uint8Array(((message.length + 72) >>> 6) << 6);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, message.length << 3, true);
  view.setUint32(padded.length - 4, message.length / 2 ** 29, true);
  return padded;
}

/** One block of 64 bytes: four rounds of sixteen steps. */
function mix(state: Int32Array, block: DataView): void {
  let [a, b, c, d] = state as unknown as [number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const round = i >>> 4;
    let f: number;
    let word: number;
    if (round === 0) {
      f = (b & c) | (~b & d);
      word = i;
    } else if (round === 1) {
      f = (d & b) | (~d & c);
      word = 5 * i + 1;
    } else if (round === 2) {
      f = b ^ c ^ d;
      word = 3 * i + 5;
    } else {
      f = c ^ (b | ~d);
      word = 7 * i;
    }
    const sum = (a + f + (SINES[i] as number) + block.getInt32((word & 15) * 4, true)) | 0;
    const shift = SHIFTS[round * 4 + (i & 3)] as number;
    a = d;
    d = c;
    c = b;
    b = (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0;
  }
  state[0] = (state[0] as number) + a;
  state[1] = (state[1] as number) + b;
  state[2] = (state[2] as number) + c;
  state[3] = (state[3] as number) + d;
}
