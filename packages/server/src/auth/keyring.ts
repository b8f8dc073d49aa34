import { timingSafeEqual } from 'node:crypto';
import { stat } from 'node:fs/promises';
import process from 'node:process';
import { InvalidOptionError, StoreError } from 'idsmith';
import { type Caller, SCOPES } from '../http/caller.js';
import { RequestProblem } from '../http/problem.js';
import { MAX_COUNT } from '../http/schemas.js';
import type { Log } from '../ops/log.js';
import { RateLimit } from './rate-limit.js';
import { hashOf, listTokens, missingFile, splitToken, type TokenFile, type TokenRecord } from './tokens.js';

/** A caller and the rate limit of its token. */
interface LimitedCaller extends Caller {
  readonly rateLimit: RateLimit | undefined;
}

interface Entry {
  readonly hash: Buffer;
  readonly caller: LimitedCaller;
}

/** The caller where no tokens are in use. */
const ANYBODY: LimitedCaller = { id: '', scopes: SCOPES, batch: MAX_COUNT, rateLimit: undefined };

/** The interval at which the file is checked for changes, ms. */
const INTERVAL = 500;

/** The tokens of a file, kept up to date while the server runs. */
export class Keyring {
  readonly #file: TokenFile | undefined;
  readonly #rate: number;
  readonly #log: Log;
  #entries = new Map<string, Entry>();
  #isRequired = false;
  /** The version of the file that was read last. */
  #version = '';
  #timer: ReturnType<typeof setInterval> | undefined;

  /**
   * @param file `undefined` for a server without tokens
   * @param rate requests per second for tokens without a rate of their own; 0 means no limit
   */
  constructor(file: TokenFile | undefined, rate: number, log: Log) {
    this.#file = file;
    this.#rate = rate;
    this.#log = log;
  }

  /** True if callers need a token. The value stays true from then on: removing the file does not open the server to everybody. */
  get isRequired(): boolean {
    return this.#isRequired;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Reads the file, now and after every change.
   *
   * @throws InvalidOptionError if it is not a token file, everybody may write it, or it was named and does not exist
   * @throws StoreError if it cannot be read
   */
  async open(): Promise<void> {
    if (this.#file === undefined) return;
    await this.#read(this.#file);
    if (this.#file.isNamed && !this.#isRequired) throw missingFile(this.#file.path);
    this.#timer = setInterval(() => {
      // A file that has become wrong is logged, and the tokens stay as they were.
      this.#read(this.#file as TokenFile).catch((error: unknown) =>
        this.#log.error('tokens not read', { error }),
      );
    }, INTERVAL).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** @throws RequestProblem 401 if a token is required and the header has no valid one */
  callerOf(authorization: string | undefined): LimitedCaller {
    if (!this.#isRequired) return ANYBODY;
    if (authorization === undefined)
      throw unauthorized('this route needs a token: send the header Authorization: Bearer TOKEN');
    const [, sent] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
    if (sent === undefined)
      throw unauthorized(
        'this header Authorization has no bearer token: send the word Bearer and the token, as in Authorization: Bearer TOKEN',
      );
    const token = splitToken(sent);
    const entry = token && this.#entries.get(token.id);
    if (entry !== undefined && timingSafeEqual(hashOf(token!.secret), entry.hash)) return entry.caller;
    throw unauthorized(
      'this token is not known here, or was revoked: idsmith token list shows the tokens of a server, and ' +
        'idsmith token create makes one',
    );
  }

  async #read({ path }: TokenFile): Promise<void> {
    const version = await versionOf(path);
    if (version === this.#version) return;
    const records = await listTokens(path);
    const old = this.#entries;
    this.#entries = new Map((records ?? []).map((record) => [record.id, this.#entryOf(record, old)]));
    this.#isRequired ||= records !== undefined;
    this.#version = version;
    this.#log.info('tokens read', { tokens: this.#entries.size });
  }

  /** Makes the entry of a token. A token with an unchanged rate keeps its rate limit. */
  #entryOf(record: TokenRecord, old: ReadonlyMap<string, Entry>): Entry {
    const { id, scopes, hash, batch = MAX_COUNT } = record;
    const rate = record.rate ?? this.#rate;
    const before = old.get(id)?.caller.rateLimit;
    const rateLimit = before?.rate === rate ? before : rate === 0 ? undefined : new RateLimit(rate);
    return {
      hash: Buffer.from(hash, 'hex'),
      caller: { id, scopes, batch: Math.min(batch, MAX_COUNT), rateLimit },
    };
  }
}

/**
 * The version of a file, which changes with every change of the file; empty if the file does not exist.
 *
 * @throws InvalidOptionError if everybody on the machine may write the file
 * @throws StoreError if the file may exist and cannot be examined: running without tokens would then be unsafe
 */
async function versionOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, mode } = await stat(path);
    // Windows reports every file as writable by everybody.
    const isOpen = process.platform !== 'win32' && (mode & 0o002) !== 0;
    if (isOpen)
      throw new InvalidOptionError(`tokens: ${path} is writable by everybody: run chmod o-w ${path}`);
    return `${ino} ${size} ${mtimeMs}`;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    if (error instanceof InvalidOptionError) throw error;
    throw new StoreError(`tokens: ${path} cannot be read: ${message}`, { cause: error });
  }
}

function unauthorized(detail: string): RequestProblem {
  return new RequestProblem(401, 'UNAUTHORIZED', detail, { 'www-authenticate': 'Bearer realm="idsmith"' });
}
