// The part of MessagePack that Redis scripts and their callers exchange: arrays of byte strings.
//
//   1001cccc  dc cccc  dd cccccccc            an array of c elements, which follow
//   101ccccc  d9 cc    da cccc  db cccccccc   a string of c bytes, which follow

/** A string, or a list with one. */
export type PackedValue = Uint8Array | readonly [Uint8Array];

/** An array of values. */
export function packArray(values: readonly PackedValue[]): Uint8Array {
  const parts: Uint8Array[] = [header(ARRAY, values.length)];
  for (const value of values) {
    const isList = Array.isArray(value);
    const bytes = (isList ? value[0] : value) as Uint8Array;
    if (isList) parts.push(header(ARRAY, 1));
    parts.push(header(STRING, bytes.length), bytes);
  }
  return join(parts);
}

/** An array of texts, in UTF-8. Much faster than `packArray` if all of them are short and have only ASCII characters. */
export function packTexts(texts: readonly (string | Uint8Array)[]): Uint8Array {
  if (!texts.every(isShortAscii)) return packArray(texts.map((text) => bytesOf(text)));
  let characters = '';
  for (const text of texts) characters += (HEADERS[text.length] as string) + text;
  const start = header(ARRAY, texts.length);
  const all = new Uint8Array(start.length + characters.length);
  all.set(start);
  for (let i = 0; i < characters.length; i++) all[start.length + i] = characters.charCodeAt(i);
  return all;
}

/** The elements of arrays that follow one another. */
export function unpackArrays(bytes: Uint8Array): PackedValue[] {
  const values: PackedValue[] = [];
  const reader = new Reader(bytes);
  while (!reader.isAtEnd) {
    for (let left = reader.count(ARRAY); left > 0; left--) {
      const isList = reader.isAt(ARRAY);
      if (isList) reader.count(ARRAY);
      const value = reader.bytes(reader.count(STRING));
      values.push(isList ? [value] : value);
    }
  }
  return values;
}

/** The first bytes of a kind of value: with the count in the lowest bits, and before a count of 1, 2 or 4 bytes. */
interface Kind {
  readonly short: number;
  readonly shortCounts: number;
  readonly long: readonly (readonly [first: number, size: number])[];
}
const ARRAY: Kind = {
  short: 0x90,
  shortCounts: 16,
  long: [
    [0xdc, 2],
    [0xdd, 4],
  ],
};
const STRING: Kind = {
  short: 0xa0,
  shortCounts: 32,
  long: [
    [0xd9, 1],
    [0xda, 2],
    [0xdb, 4],
  ],
};

function header({ short, shortCounts, long }: Kind, count: number): Uint8Array {
  if (count < shortCounts) return Uint8Array.of(short + count);
  const [first, size] = long.find(([, bytes]) => count < 256 ** bytes) as readonly [number, number];
  const bytes = Uint8Array.of(first, ...new Array<number>(size).fill(0));
  for (let i = size, rest = count; i > 0; i--, rest = Math.floor(rest / 256)) bytes[i] = rest % 256;
  return bytes;
}

class Reader {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#bytes.length;
  }

  isAt({ short, shortCounts, long }: Kind): boolean {
    const first = this.#bytes[this.#position] as number;
    return (first >= short && first < short + shortCounts) || long.some(([code]) => code === first);
  }

  count({ short, long }: Kind): number {
    const first = this.#bytes[this.#position++] as number;
    const size = long.find(([code]) => code === first)?.[1];
    if (size === undefined) return first - short;
    let count = 0;
    for (const byte of this.bytes(size)) count = count * 256 + byte;
    return count;
  }

  bytes(size: number): Uint8Array {
    this.#position += size;
    return this.#bytes.subarray(this.#position - size, this.#position);
  }
}

/** The headers of short strings as characters. */
const HEADERS = Array.from({ length: STRING.shortCounts }, (_, count) =>
  String.fromCharCode(STRING.short + count),
);
const SHORT_ASCII = /^[\0-\x7f]{0,31}$/;

function isShortAscii(text: string | Uint8Array): text is string {
  return typeof text === 'string' && SHORT_ASCII.test(text);
}

function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? new TextEncoder().encode(text) : text;
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
