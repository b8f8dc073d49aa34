import { timingSafeEqual } from 'node:crypto';
import { stat } from 'node:fs/promises';
import process from 'node:process';
import { InvalidOptionError, StoreError } from 'idsmith';
import { Bucket } from '../http/in-flight-limit.js';
import { RequestProblem } from '../http/problem.js';
import { SCOPES, type Scope } from '../http/route.js';
import { MAX_COUNT } from '../http/schemas.js';
import type { Log } from '../ops/log.js';
import { hashOf, listTokens, missing, splitToken, type TokenFile, type TokenRecord } from './tokens.js';

/** Who calls: a token, or anybody on this machine where there are none. */
export interface Caller {
  /** Empty for anybody. */
  readonly id: string;
  readonly scopes: readonly Scope[];
  /** The most ids of one call. */
  readonly batch: number;
  readonly bucket: Bucket | undefined;
}

interface Key {
  readonly hash: Buffer;
  readonly caller: Caller;
}

const ANYBODY: Caller = { id: '', scopes: SCOPES, batch: MAX_COUNT, bucket: undefined };

/** How often the file is looked at, ms. */
const INTERVAL = 500;

/** The tokens of a file, kept up to date while the server runs. */
export class Keyring {
  readonly #file: TokenFile | undefined;
  readonly #rate: number;
  readonly #log: Log;
  #keys = new Map<string, Key>();
  #isRequired = false;
  /** What the file looked like when it was last read. */
  #seen = '';
  #timer: ReturnType<typeof setInterval> | undefined;

  /**
   * @param file `undefined` for a server without tokens
   * @param rate requests a second of tokens that name none; 0 is no limit
   */
  constructor(file: TokenFile | undefined, rate: number, log: Log) {
    this.#file = file;
    this.#rate = rate;
    this.#log = log;
  }

  /** Whether callers need a token. Once they do, they do until the end: a file that is removed opens no door. */
  get isRequired(): boolean {
    return this.#isRequired;
  }

  get size(): number {
    return this.#keys.size;
  }

  /**
   * Reads the file, now and whenever it changes.
   *
   * @throws InvalidOptionError when it is not a file of tokens, anybody may write it, or it was named and is not there
   * @throws StoreError when it cannot be read
   */
  async open(): Promise<void> {
    if (this.#file === undefined) return;
    await this.#read(this.#file);
    if (this.#file.isNamed && !this.#isRequired) throw missing(this.#file.path);
    this.#timer = setInterval(() => {
      // What is wrong with the file now is told, and the tokens stay as they were.
      this.#read(this.#file as TokenFile).catch((error: unknown) =>
        this.#log.error('tokens not read', { error }),
      );
    }, INTERVAL).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** @throws RequestProblem 401 when a token is needed and this is none */
  callerOf(authorization: string | undefined): Caller {
    if (!this.#isRequired) return ANYBODY;
    if (authorization === undefined) throw unauthorized('this needs a token: Authorization: Bearer …');
    const token = splitToken(/^bearer +(\S+)$/i.exec(authorization)?.[1] ?? '');
    const key = token && this.#keys.get(token.id);
    if (key !== undefined && timingSafeEqual(hashOf(token!.secret), key.hash)) return key.caller;
    throw unauthorized('this token is not known here, or was revoked');
  }

  async #read({ path }: TokenFile): Promise<void> {
    const seen = await lookOf(path);
    if (seen === this.#seen) return;
    const records = await listTokens(path);
    const old = this.#keys;
    this.#keys = new Map((records ?? []).map((record) => [record.id, this.#keyOf(record, old)]));
    this.#isRequired ||= records !== undefined;
    this.#seen = seen;
    this.#log.info('tokens read', { tokens: this.#keys.size });
  }

  /** A token that has not changed keeps its bucket. */
  #keyOf(record: TokenRecord, old: ReadonlyMap<string, Key>): Key {
    const { id, scopes, hash, batch = MAX_COUNT } = record;
    const rate = record.rate ?? this.#rate;
    const before = old.get(id)?.caller.bucket;
    const bucket = before?.rate === rate ? before : rate === 0 ? undefined : new Bucket(rate);
    return {
      hash: Buffer.from(hash, 'hex'),
      caller: { id, scopes, batch: Math.min(batch, MAX_COUNT), bucket },
    };
  }
}

/**
 * How a file looks, which changes when somebody changes it; empty if there is none.
 *
 * @throws InvalidOptionError when anybody on the machine may write it
 * @throws StoreError when nobody can tell whether there is one: that is no reason to do without tokens
 */
async function lookOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, mode } = await stat(path);
    // Windows has no such bits, and says that everything can be written.
    const isOpen = process.platform !== 'win32' && (mode & 0o002) !== 0;
    if (isOpen) throw new InvalidOptionError(`tokens: ${path} can be written by anybody: chmod o-w ${path}`);
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
