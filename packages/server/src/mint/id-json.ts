import { MAX_COUNT } from '../http/schemas.js';

// Responses of many ids, as JSON text. The ids of a batch are neighbours: most of their characters are the same. So the text of one id
// is copied for all that differ from it in a few characters only, and these characters are overwritten. That is ten times as fast as
// making a text of each id.
//
// An example: for 41998, 41999, 42000 the text `41998","` is copied twice, and 998 becomes 999 in the copy. 42000 has other thousands
// and begins a new group.

/** The longest id in a response with the characters around it: a UUID and `","`. */
const MAX_LENGTH = 39;

const HEAD = '{"ids":["';
const text = Buffer.allocUnsafeSlow(HEAD.length + MAX_COUNT * MAX_LENGTH);
text.write(HEAD, 'latin1');
/** The same bytes, for writing several at once: that is a single instruction. */
const view = new DataView(text.buffer, text.byteOffset, text.length);

/** The characters between two ids, and in the place of the last ones: `"]}`. */
const BETWEEN = '","';
const END = '"]}';

/** `000"` to `999"`, as the numbers whose four bytes they are. The quotation mark comes after every id. */
const THREE_DIGITS = Uint32Array.from({ length: 1000 }, (_, i) =>
  Buffer.from(`${String(i).padStart(3, '0')}"`, 'latin1').readUInt32BE(),
);

/** `00` to `ff`, as the numbers whose two bytes they are. */
const HEX = Uint16Array.from({ length: 256 }, (_, i) =>
  Buffer.from(i.toString(16).padStart(2, '0'), 'latin1').readUInt16BE(),
);

const flakes = new BigUint64Array(MAX_COUNT);
const halves = new Uint32Array(flakes.buffer);
const LOW = new Uint32Array(BigUint64Array.of(1n).buffer)[0] === 1 ? 0 : 1;
const HIGH = 1 - LOW;

/** The JSON of flakes. @param fill writes ids that ascend */
export function flakesJson(count: number, fill: (target: BigUint64Array) => void): string {
  fill(flakes.subarray(0, count));
  let at = HEAD.length;
  for (let i = 0; i < count; ) {
    const id = flakes[i] as bigint;
    const low = halves[2 * i + LOW] as number;
    const high = halves[2 * i + HIGH] as number;
    const length = text.write(id + BETWEEN, at, 'latin1');
    const digits = Number(id % 1000n);
    const end = id < 100n ? low : low + 1000 - digits;
    let size = 1;
    while (
      i + size < count &&
      halves[2 * (i + size) + HIGH] === high &&
      (halves[2 * (i + size) + LOW] as number) < end
    )
      size++;
    repeat(at, length, size);
    for (let k = 1, place = at + 2 * length - 6; k < size; k++, place += length)
      view.setUint32(place, THREE_DIGITS[(halves[2 * (i + k) + LOW] as number) - low + digits] as number);
    at += length * size;
    i += size;
  }
  return ended(at);
}

/** The JSON of the first `count` numbers, which are safe integers. */
export function numbersJson(numbers: Float64Array, count: number): string {
  let at = HEAD.length;
  for (let i = 0; i < count; ) {
    const first = numbers[i] as number;
    const length = text.write(first + BETWEEN, at, 'latin1');
    // The numbers that differ from the first one in their last three digits only. Those with fewer digits have no such neighbours.
    const thousands = first - (first % 1000);
    const [from, to] = first < 100 ? [1, 0] : [Math.max(thousands, 100), thousands + 999];
    const most = Math.min(count - i, to - from + 1);
    if (most > 1) repeat(at, length, most);
    let size = 1;
    for (let place = at + 2 * length - 6; size < most; size++, place += length) {
      const number = numbers[i + size] as number;
      if (number < from || number > to) break;
      view.setUint32(place, THREE_DIGITS[number - thousands] as number);
    }
    at += length * size;
    i += size;
  }
  return ended(at);
}

const uuids = new Uint8Array(MAX_COUNT * 16);
const quarters = new Uint32Array(uuids.buffer);

/** The JSON of UUIDs. @param fill writes them, 16 bytes each */
export function uuidsJson(count: number, fill: (target: Uint8Array) => void): string {
  fill(uuids.subarray(0, 16 * count));
  let at = HEAD.length;
  for (let i = 0; i < count; ) {
    writeUuid(16 * i, at);
    // The UUIDs that differ from the first one in their first four bytes only.
    let size = 1;
    while (i + size < count && hasSameEnd(4 * i, 4 * (i + size))) size++;
    repeat(at, MAX_LENGTH, size);
    for (let k = 1, place = at + MAX_LENGTH; k < size; k++, place += MAX_LENGTH) {
      writeTwoBytes(place, 16 * (i + k));
      writeTwoBytes(place + 4, 16 * (i + k) + 2);
    }
    at += MAX_LENGTH * size;
    i += size;
  }
  return ended(at);
}

function hasSameEnd(a: number, b: number): boolean {
  return (
    quarters[a + 1] === quarters[b + 1] &&
    quarters[a + 2] === quarters[b + 2] &&
    quarters[a + 3] === quarters[b + 3]
  );
}

function writeUuid(from: number, to: number): void {
  let at = to;
  for (let byte = 0; byte < 16; byte += 2) {
    if (byte === 4 || byte === 6 || byte === 8 || byte === 10) text.write('-', at++, 'latin1');
    writeTwoBytes(at, from + byte);
    at += 4;
  }
  text.write(BETWEEN, at, 'latin1');
}

/** Writes two bytes of a UUID as four hex digits. */
function writeTwoBytes(at: number, from: number): void {
  const high = HEX[uuids[from] as number] as number;
  const low = HEX[uuids[from + 1] as number] as number;
  view.setUint32(at, (high << 16) | low);
}

/** Repeats `length` characters until they are there `times` times, twice as many with each step. */
function repeat(at: number, length: number, times: number): void {
  const total = length * times;
  for (let done = length; done < total; done *= 2)
    text.copyWithin(at + done, at, at + Math.min(done, total - done));
}

function ended(at: number): string {
  text.write(END, at - END.length, 'latin1');
  return text.toString('latin1', 0, at);
}
