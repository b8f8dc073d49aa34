import { InvalidIdError, InvalidOptionError } from '../errors.js';
import { show } from '../options.js';
import { defaultMinter } from './default.js';
import { hyphenate } from './layout.js';

const TEXT = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** White space and control characters at either end, as Java trims them. */
const AROUND = /^[\0- ]+|[\0- ]+$/g;
/** Known to this file alone: marks bits that need no check. */
const CHECKED = Symbol('checked');

/** A UUID as an immutable value. Any version can be held; the fields below are read from version b only. */
export class LocalityUuid {
  /** All 128 bits, unsigned. */
  readonly #bits: bigint;

  /** Mints one from the process-wide default generator. */
  constructor();
  /** @internal */
  constructor(bits: bigint, key: symbol);
  constructor(bits?: bigint, key?: symbol) {
    if (bits === undefined) {
      const bytes = new Uint8Array(16);
      defaultMinter().fill(bytes);
      this.#bits = toBits(bytes);
    } else if (key === CHECKED) {
      this.#bits = bits;
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
    const trimmed = typeof text === 'string' ? text.replace(AROUND, '') : '';
    if (!TEXT.test(trimmed)) throw new InvalidIdError(`${show(text)} is not a UUID`);
    return new LocalityUuid(BigInt(`0x${trimmed.replaceAll('-', '')}`), CHECKED);
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
    return new LocalityUuid(toBits(bytes), CHECKED);
  }

  /**
   * The id of two 64-bit halves, signed as in Java or unsigned.
   *
   * @throws InvalidIdError when a half is not a bigint from −2^63 to 2^64 − 1
   */
  static fromBits(most: bigint, least: bigint): LocalityUuid {
    const [high, low] = [most, least].map((half) => {
      if (typeof half === 'bigint' && half >= -(1n << 63n) && half < 1n << 64n)
        return BigInt.asUintN(64, half);
      throw new InvalidIdError(`half of a UUID is a bigint of 64 bits, not ${show(half)}`);
    }) as [bigint, bigint];
    return new LocalityUuid((high << 64n) | low, CHECKED);
  }

  /** Whether `text` is 36 characters with hyphens and hex digits in their places, of any version. Never throws. */
  static isValid(text: unknown): boolean {
    return typeof text === 'string' && text.length === 36 && TEXT.test(text);
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
    return this.#field(76n, 4).toString(16);
  }

  /** The lowest 16 bits of the maker's process id; `undefined` unless the version is `'b'`. */
  get processId(): number | undefined {
    return this.version === 'b' ? this.#field(80n, 16) : undefined;
  }

  /** When the id was made; `undefined` unless the version is `'b'`. */
  get timestamp(): Date | undefined {
    return this.version === 'b' ? new Date(this.#field(0n, 48)) : undefined;
  }

  /** The maker's MAC address, its first two and a half bytes zero; `undefined` unless the version is `'b'`. */
  get macFragment(): Uint8Array | undefined {
    if (this.version !== 'b') return undefined;
    const bytes = this.toBytes().slice(4, 10);
    bytes[0] = bytes[1] = 0;
    bytes[2] = (bytes[2] as number) & 15;
    return bytes;
  }

  /** The first 64 bits, signed as a Java long. */
  get mostSignificantBits(): bigint {
    return BigInt.asIntN(64, this.#bits >> 64n);
  }

  /** The last 64 bits, signed as a Java long. */
  get leastSignificantBits(): bigint {
    return BigInt.asIntN(64, this.#bits);
  }

  /**
   * The same fields as a standard UUID of version 8 (RFC 9562), in which two of the 28 MAC bits give way to the
   * variant. Two ids that differ in those two bits only become one.
   *
   * @throws InvalidIdError when this id's version is not `'b'`
   */
  toRfc9562(): LocalityUuid {
    if (this.version !== 'b') throw new InvalidIdError(`${this} is of version ${this.version}, not b`);
    const cleared = this.#bits & ~((15n << 76n) | (3n << 62n));
    return new LocalityUuid(cleared | (8n << 76n) | (2n << 62n), CHECKED);
  }

  /** A copy of the 16 bytes. */
  toBytes(): Uint8Array {
    const view = new DataView(new ArrayBuffer(16));
    view.setBigUint64(0, this.#bits >> 64n);
    view.setBigUint64(8, this.#bits);
    return new Uint8Array(view.buffer);
  }

  /** 36 characters, lower case. */
  toString(): string {
    return hyphenate(this.#bits.toString(16).padStart(32, '0'));
  }

  toJSON(): string {
    return this.toString();
  }

  /** Whether `other` is a `LocalityUuid` of the same bits. */
  equals(other: unknown): boolean {
    return other instanceof LocalityUuid && this.#bits === other.#bits;
  }

  /** What `console.log` shows in Node, Bun and Deno. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `LocalityUuid(${this})`;
  }

  #field(shift: bigint, bits: number): number {
    return Number(BigInt.asUintN(bits, this.#bits >> shift));
  }
}

function toBits(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 16);
  return (view.getBigUint64(0) << 64n) | view.getBigUint64(8);
}
