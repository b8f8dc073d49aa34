import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { InvalidOptionError } from 'idsmith';
import { shownPath } from 'idsmith/internal';
import { utf8Text } from 'idsmith/internal/cli';
import { type PublicContent, type PublicIdOptions, type PublicIds, publicIds } from 'idsmith/public';
import { invalidRequest, RequestProblem } from '../http/problem.js';
import { mapInTurns } from '../ops/turns.js';

type Codec = PublicIds<string, PublicContent>;

/** The most short ids of one call: each takes about 60 microseconds, and other requests wait meanwhile. */
const MAX_SHORT = 100;

type Options = Omit<PublicIdOptions<string, PublicContent>, 'prefix'>;
const OPTIONS = ['keys', 'current', 'of', 'short'];

interface Entry {
  readonly codec: Codec;
  readonly isShort: boolean;
}

/** The parameters of a request that ask for public ids. */
export interface PublicQuery {
  readonly public?: string;
  /** Set to get the ids themselves, too. */
  readonly plain?: 'true' | 'false';
}

/** True if a request asks for public ids. */
export const asksForPublicIds = (query: PublicQuery) =>
  query.public !== undefined || query.plain !== undefined;

/** A prefix of the server, without its keys. */
export interface PublicPrefix {
  readonly prefix: string;
  readonly of: PublicContent;
  readonly short: boolean;
}

/** The public ids that the server makes: a codec for each prefix of a file. Messages never show what the file holds but its prefixes. */
export class PublicIdCodecs {
  readonly #entries = new Map<string, Entry>();

  /**
   * @param file a JSON object of options by prefix; an empty text for none
   * @throws InvalidOptionError naming the file and the mistake in it
   */
  constructor(file: string) {
    if (file === '') return;
    const prefixes = Object.entries(parse(readPrivately(file), file));
    prefixes.forEach(([prefix, options], i) => {
      // A key in the wrong place must not get into a message: what is no prefix is not shown.
      const isPrefix = /^[a-z](?:[a-z_]{0,61}[a-z])?$/.test(prefix);
      const at = `public ids: ${file}, ${isPrefix ? `prefix ${prefix}` : `entry ${i + 1}`}:`;
      if (!isPrefix)
        throw new InvalidOptionError(
          `${at} its name must be a prefix, 1 to 63 letters a to z and underscores with a letter at both ends`,
        );
      requireShape(options, at);
      try {
        const codec = publicIds<string, PublicContent>({ ...options, prefix });
        this.#entries.set(prefix, { codec, isShort: options.short === true });
      } catch (error) {
        throw new InvalidOptionError(`${at} ${(error as Error).message}`, { cause: error });
      }
    });
    if (prefixes.length === 0) throw new InvalidOptionError(`public ids: ${file} has no prefix`);
  }

  /** The codecs, for reading ids. */
  get readers(): Codec[] {
    return [...this.#entries.values()].map(({ codec }) => codec);
  }

  /** The prefixes, in the order of the file. */
  get prefixes(): PublicPrefix[] {
    return Array.from(this.#entries.values(), ({ codec: { prefix, of }, isShort }) => {
      return { prefix, of, short: isShort };
    });
  }

  /** True if the public ids of this prefix hold no negative numbers. */
  refusesNegatives(prefix: string): boolean {
    return this.#entries.get(prefix)?.isShort === true;
  }

  /**
   * Mints ids as JSON text, and encodes them. The prefix is checked first, so that a wrong one takes no ids.
   *
   * @param mint mints so many ids, as `{"ids":[…]}`
   * @throws RequestProblem 501 if the server has no prefixes, and 422 for a prefix that it does not know or that is for other ids
   */
  withPublicIds(
    { public: prefix, plain }: PublicQuery,
    of: PublicContent,
    count: number,
    mint: (count: number) => string | Promise<string>,
  ): string | Promise<string> {
    if (prefix === undefined)
      throw invalidRequest('plain goes with public: without a prefix, the ids are plain anyway');
    const codec = this.#codecFor(prefix, of, count);
    const encode = (text: string) => {
      const { ids: inner } = JSON.parse(text) as { ids: string[] };
      const json = (ids: string[]) => JSON.stringify({ ids, ...(plain === 'true' && { plain: inner }) });
      const encoded = mapInTurns(inner, (id) => codec.encode(id));
      return encoded instanceof Promise ? encoded.then(json) : json(encoded);
    };
    const minted = mint(count);
    return typeof minted === 'string' ? encode(minted) : minted.then(encode);
  }

  #codecFor(prefix: string, of: PublicContent, count: number): Codec {
    if (this.#entries.size === 0)
      throw new RequestProblem(
        501,
        'NOT_CONFIGURED',
        'this server has no keys for public ids: start it with --public-ids public-ids.json',
      );
    const entry = this.#entries.get(prefix);
    if (entry === undefined || entry.codec.of !== of) {
      const known = this.readers.filter((codec) => codec.of === of).map((codec) => codec.prefix);
      const problem = entry === undefined ? 'is not known here' : `is for ids of ${entry.codec.of}`;
      throw invalidRequest(
        `public: the prefix ${JSON.stringify(prefix)} ${problem}; for ids of ${of} there is ${known.join(', ') || 'none'}`,
      );
    }
    if (entry.isShort && count > MAX_SHORT)
      throw invalidRequest(`count must be at most ${MAX_SHORT} for short public ids, not ${count}`);
    return entry.codec;
  }
}

/** Reads a file that no other user can read. */
function readPrivately(file: string): string {
  let handle: number | undefined;
  try {
    handle = openSync(file, 'r');
    const stats = fstatSync(handle);
    // Windows reports every file as open to everybody.
    if (stats.isFile() && process.platform !== 'win32' && (stats.mode & 0o077) !== 0)
      throw new InvalidOptionError(`public ids: ${file} is open to other users: run chmod 600 ${file}`);
    return utf8Text(readFileSync(handle), `public ids: ${file}`);
  } catch (error) {
    if (error instanceof InvalidOptionError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    // Without the cause, whose message has the path.
    throw new InvalidOptionError(`public ids: ${shownPath(file)} cannot be read: ${code ?? message}`);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

function parse(text: string, file: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // No cause: the error of JSON.parse quotes the text.
  }
  if (isObject(value)) return value;
  throw new InvalidOptionError(
    `public ids: ${file} must hold a JSON object of prefixes, as in { "ord": { "keys": { "1": "…" } } }`,
  );
}

/** Checks the names of an entry, without showing them: one of them may be a key. */
function requireShape(options: unknown, at: string): asserts options is Options {
  if (!isObject(options) || Object.keys(options).some((name) => !OPTIONS.includes(name)))
    throw new InvalidOptionError(`${at} must be an object with no other names than ${OPTIONS.join(', ')}`);
  const { keys } = options;
  if (!isObject(keys) || Object.keys(keys).some((id) => !/^\d{1,3}$/.test(id)))
    throw new InvalidOptionError(`${at} keys must be an object of keys by their ids, { "1": "…" }`);
  const { current = 0, of = 'int64', short = false } = options;
  if (of !== 'int64' && of !== 'uuid') throw new InvalidOptionError(`${at} of must be int64 or uuid`);
  if (typeof current !== 'number') throw new InvalidOptionError(`${at} current has the wrong type`);
  if (typeof short !== 'boolean') throw new InvalidOptionError(`${at} short has the wrong type`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
