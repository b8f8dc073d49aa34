import { readUint48 } from '../encoding/bits.js';
import { bytesToHex, hexDigit, hexToBytes } from '../encoding/hex.js';
import { InvalidIdError, InvalidOptionError } from '../errors.js';
import { show } from '../options.js';
import { defaultMinter } from './default.js';
import { withVariant } from './layout.js';

const HYPHENS: readonly number[] = [8, 13, 18, 23];

/** A UUID as an immutable value. Any version can be held; the fields below are read from version b only. */
export class LocalityUuid {
  readonly #bytes: Uint8Array;

  /** Mints one from the process-wide default generator. */
  constructor();
  /** @internal */
  constructor(bytes: Uint8Array, key: typeof OWNED);
  constructor(bytes?: Uint8Array, key?: typeof OWNED) {
    if (bytes === undefined) {
      this.#bytes = new Uint8Array(16);
      defaultMinter().fill(this.#bytes);
    } else if (key === OWNED) {
      this.#bytes = bytes;
    } else {
      throw new InvalidOptionError('new LocalityUuid() takes nothing; use parse, fromBytes or fromBits');
    }
  }

  /**
   * The id that a text stands for: 36 characters of either case, with white space and control characters
   * (up to U+0020) around it ignored.
   *
   * @throws InvalidIdError for anything else
   */
  static parse(text: string): LocalityUuid {
    const trimmed = typeof text === 'string' ? trimControls(text) : '';
    if (!LocalityUuid.isValid(trimmed)) throw new InvalidIdError(`${show(text)} is not a UUID`);
    return new LocalityUuid(hexToBytes(trimmed.replaceAll('-', '')) as Uint8Array, OWNED);
  }

  /**
   * The id of exactly 16 bytes, which are copied.
   *
   * @throws InvalidIdError for anything else
   */
  static fromBytes(bytes: Uint8Array): LocalityUuid {
    if (!(bytes instanceof Uint8Array) || bytes.length !== 16) {
      throw new InvalidIdError(`a UUID is a Uint8Array of 16 bytes, not ${show(bytes)}`);
    }
    return new LocalityUuid(Uint8Array.from(bytes), OWNED);
  }

  /**
   * The id of two 64-bit halves, signed as in Java or unsigned.
   *
   * @throws InvalidIdError when a half is not a bigint from −2^63 to 2^64 − 1
   */
  static fromBits(most: bigint, least: bigint): LocalityUuid {
    const view = new DataView(new ArrayBuffer(16));
    for (const [offset, half] of [most, least].entries()) {
      if (typeof half !== 'bigint' || half < -(2n ** 63n) || half >= 2n ** 64n) {
        throw new InvalidIdError(`half of a UUID is a bigint of 64 bits, not ${show(half)}`);
      }
      view.setBigUint64(offset * 8, BigInt.asUintN(64, half));
    }
    return new LocalityUuid(new Uint8Array(view.buffer), OWNED);
  }

  /** Whether `text` is 36 characters with hyphens and hex digits in their places, of any version. Never throws. */
  static isValid(text: unknown): boolean {
    if (typeof text !== 'string' || text.length !== 36) return false;
    for (let i = 0; i < 36; i++) {
      const code = text.charCodeAt(i);
      if (HYPHENS.includes(i) ? code !== 45 : hexDigit(code) < 0) return false;
    }
    return true;
  }

  /** Puts the process-wide default generator into sequential mode. */
  static useSequentialIds(): void {
    defaultMinter().useSequentialIds();
  }

  /** Puts the process-wide default generator into variable mode. */
  static useVariableIds(): void {
    defaultMinter().useVariableIds();
  }

  /** `'b'` for ids made here; otherwise the version digit. */
  get version(): string {
    return this.toString().charAt(14);
  }

  /** The lowest 16 bits of the maker's process id; `undefined` unless the version is `'b'`. */
  get processId(): number | undefined {
    return this.version === 'b' ? this.#view.getUint16(4) : undefined;
  }

  /** When the id was made; `undefined` unless the version is `'b'`. */
  get timestamp(): Date | undefined {
    return this.version === 'b' ? new Date(readUint48(this.#bytes, 10)) : undefined;
  }

  /** The maker's MAC address, its first two and a half bytes zero; `undefined` unless the version is `'b'`. */
  get macFragment(): Uint8Array | undefined {
    if (this.version !== 'b') return undefined;
    return Uint8Array.of(0, 0, (this.#bytes[6] as number) & 15, ...this.#bytes.subarray(7, 10));
  }

  /** The first 64 bits, signed as a Java long. */
  get mostSignificantBits(): bigint {
    return this.#view.getBigInt64(0);
  }

  /** The last 64 bits, signed as a Java long. */
  get leastSignificantBits(): bigint {
    return this.#view.getBigInt64(8);
  }

  /**
   * The same fields as a standard UUID of version 8 (RFC 9562), in which two of the 28 MAC bits give way to the
   * variant. Two ids that differ in those two bits only become one.
   *
   * @throws InvalidIdError when this id's version is not `'b'`
   */
  toRfc9562(): LocalityUuid {
    if (this.version !== 'b') throw new InvalidIdError(`${this} is of version ${this.version}, not b`);
    const copy = new LocalityUuid(this.toBytes(), OWNED);
    const view = copy.#view;
    view.setUint8(6, 0x80 | (view.getUint8(6) & 15));
    view.setInt32(8, withVariant(view.getInt32(8)));
    return copy;
  }

  /** A copy of the 16 bytes. */
  toBytes(): Uint8Array {
    return this.#bytes.slice();
  }

  /** 36 characters, lower case. */
  toString(): string {
    const hex = bytesToHex(this.#bytes);
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  }

  toJSON(): string {
    return this.toString();
  }

  /** Whether `other` is a `LocalityUuid` with the same 16 bytes. */
  equals(other: unknown): boolean {
    return other instanceof LocalityUuid && this.#bytes.every((byte, i) => byte === other.#bytes[i]);
  }

  /** What `console.log` shows in Node, Bun and Deno. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `LocalityUuid(${this})`;
  }

  get #view(): DataView {
    return new DataView(this.#bytes.buffer);
  }
}

/** Known to this file alone: marks bytes that nobody else holds and need no copy. */
const OWNED: unique symbol = Symbol('owned');

function trimControls(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) <= 32) start++;
  while (end > start && text.charCodeAt(end - 1) <= 32) end--;
  return text.slice(start, end);
}
