import { hexToBytes } from '../encoding/hex.js';
import { InvalidIdError, InvalidOptionError } from '../errors.js';
import { isA, requireChoice, requireKnown, show } from '../options.js';
import { hyphenate, type LocalityFormat } from './layout.js';
import { LocalityMinter } from './minter.js';

const TEXT = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** Version and variant in a UUID of either format. */
const LOCALITY = /^.{14}b/i;
const STANDARD = /^.{14}8.{4}[89ab]/i;
/** Marks text that needs no check. Private to this file. */
const CHECKED = Symbol('checked');

/** A UUID of any version as an immutable value. Process id, time and MAC fragment are read from version b only. */
export class LocalityUuid {
  /** 36 characters, lower case. */
  readonly #text: string;

  /** Mints an id with the process-wide default generator. */
  constructor();
  /** @internal */
  constructor(text: string, key: symbol);
  constructor(text?: string, key?: symbol) {
    if (text !== undefined && key !== CHECKED) {
      throw new InvalidOptionError('new LocalityUuid() takes no arguments; use parse, fromBytes or fromBits');
    }
    this.#text = text ?? defaultMinter().next();
  }

  /**
   * Reads an id from 36 characters of either case. White space and control characters (up to U+0020) around the id are
   * ignored.
   *
   * @throws InvalidIdError for any other text
   */
  static parse(text: string): LocalityUuid {
    const trimmed = typeof text === 'string' ? trim(text) : text;
    if (LocalityUuid.isValid(trimmed)) return new LocalityUuid(trimmed.toLowerCase(), CHECKED);
    throw new InvalidIdError(`${show(text)} is not a UUID`);
  }

  /**
   * Reads an id from exactly 16 bytes, which are copied.
   *
   * @throws InvalidIdError for any other value
   */
  static fromBytes(bytes: Uint8Array): LocalityUuid {
    if (!isA('Uint8Array', bytes) || bytes.length !== 16) {
      throw new InvalidIdError(`a UUID must be a Uint8Array of 16 bytes, not ${show(bytes)}`);
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    return LocalityUuid.fromBits(view.getBigInt64(0), view.getBigInt64(8));
  }

  /**
   * Reads an id from two 64-bit halves, signed as in Java or unsigned.
   *
   * @throws InvalidIdError when a half is not a bigint from −2^63 to 2^64 − 1
   */
  static fromBits(most: bigint, least: bigint): LocalityUuid {
    return new LocalityUuid(hyphenate(halfToHex(most) + halfToHex(least)), CHECKED);
  }

  /** True if `text` is a UUID of any version: 36 characters, hyphens and hex digits. Never throws. */
  static isValid(text: unknown): boolean {
    return typeof text === 'string' && text.length === 36 && TEXT.test(text);
  }

  /**
   * The time in the text of a locality UUID, of either case. There are no bounds for times: the counter comes first in an id, so the ids
   * of a moment do not lie side by side.
   *
   * @param options `format`: `'locality'` (default) for version b, `'rfc9562'` for version 8
   * @throws InvalidIdError when `text` is not a locality UUID of the format
   */
  static timeOf(text: string, options: { format?: LocalityFormat | undefined } = {}): Date {
    const { format } = requireKnown('options', options, ['format']);
    const isStandard = requireChoice<LocalityFormat>('format', format, ['locality', 'rfc9562']) === 'rfc9562';
    if (LocalityUuid.isValid(text) && (isStandard ? STANDARD : LOCALITY).test(text)) return timeIn(text);
    throw new InvalidIdError(
      `${show(text)} is not a locality UUID of version ${isStandard ? '8' : "b; for version 8, say format: 'rfc9562'"}`,
    );
  }

  /** Switches the process-wide default generator to sequential mode. */
  static useSequentialIds(): void {
    defaultMinter().useSequentialIds();
  }

  /** Switches the process-wide default generator to variable mode. */
  static useVariableIds(): void {
    defaultMinter().useVariableIds();
  }

  /** The version digit: `'b'` for locality UUIDs. */
  get version(): string {
    return this.#text.charAt(14);
  }

  /** The lowest 16 bits of the maker's process id; `undefined` unless the version is `'b'`. */
  get processId(): number | undefined {
    return this.version === 'b' ? Number.parseInt(this.#text.slice(9, 13), 16) : undefined;
  }

  /** The time in the id; `undefined` unless the version is `'b'`. */
  get timestamp(): Date | undefined {
    return this.version === 'b' ? timeIn(this.#text) : undefined;
  }

  /** The maker's MAC address, its first two and a half bytes zero; `undefined` unless the version is `'b'`. */
  get macFragment(): Uint8Array | undefined {
    if (this.version !== 'b') return undefined;
    const [, byte, ...rest] = this.toBytes().subarray(5, 10) as unknown as [number, number, ...number[]];
    return Uint8Array.of(0, 0, byte & 15, ...rest);
  }

  /** The first 64 bits, signed as a Java long. */
  get mostSignificantBits(): bigint {
    return BigInt.asIntN(64, BigInt(`0x${this.#hex.slice(0, 16)}`));
  }

  /** The last 64 bits, signed as a Java long. */
  get leastSignificantBits(): bigint {
    return BigInt.asIntN(64, BigInt(`0x${this.#hex.slice(16)}`));
  }

  /**
   * The same fields as a standard UUID of version 8 (RFC 9562). The variant replaces two of the 28 MAC bits, so two ids that
   * differ only in these two bits become equal.
   *
   * @throws InvalidIdError when this id's version is not `'b'`
   */
  toRfc9562(): LocalityUuid {
    const text = this.#text;
    if (this.version !== 'b') throw new InvalidIdError(`${text} has version ${this.version}, not b`);
    const variant = '89ab'.charAt(Number.parseInt(text.charAt(19), 16) & 3);
    return new LocalityUuid(`${text.slice(0, 14)}8${text.slice(15, 19)}${variant}${text.slice(20)}`, CHECKED);
  }

  /** A copy of the 16 bytes. */
  toBytes(): Uint8Array {
    return hexToBytes(this.#hex) as Uint8Array;
  }

  /** 36 characters, lower case. */
  toString(): string {
    return this.#text;
  }

  /** The same text as {@link toString}. */
  toJSON(): string {
    return this.#text;
  }

  /** True if `other` is a `LocalityUuid` with the same 128 bits. */
  equals(other: unknown): boolean {
    return typeof other === 'object' && other !== null && #text in other && this.#text === other.#text;
  }

  /** The text that `console.log` shows in Node, Bun and Deno. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `LocalityUuid(${this.#text})`;
  }

  get #hex(): string {
    return this.#text.replaceAll('-', '');
  }
}

/** The time of a locality UUID in either format: the last 48 bits. */
function timeIn(text: string): Date {
  return new Date(Number.parseInt(text.slice(24), 16));
}

/** The value of text that is known to be a UUID in lower case. */
export function uuidOf(text: string): LocalityUuid {
  return new LocalityUuid(text, CHECKED);
}

/** Removes white space and control characters at both ends, as Java's `trim` does. */
function trim(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && text.charCodeAt(start) <= 32) start++;
  while (end > start && text.charCodeAt(end - 1) <= 32) end--;
  return text.slice(start, end);
}

function halfToHex(half: bigint): string {
  if (typeof half !== 'bigint' || half < -(1n << 63n) || half >= 1n << 64n) {
    throw new InvalidIdError(`half of a UUID must be a bigint of 64 bits, not ${show(half)}`);
  }
  return BigInt.asUintN(64, half).toString(16).padStart(16, '0');
}

let minter: LocalityMinter | undefined;

/** The process-wide default generator, which `new LocalityUuid()` uses. Made on first use. */
function defaultMinter(): LocalityMinter {
  minter ??= new LocalityMinter({});
  return minter;
}
