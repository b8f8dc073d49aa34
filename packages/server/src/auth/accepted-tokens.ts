import { timingSafeEqual } from 'node:crypto';
import { stat } from 'node:fs/promises';
import process from 'node:process';
import { InvalidOptionError, StoreError } from 'idsmith';
import { RequestProblem } from '../http/problem.js';
import { type Caller, SCOPES } from '../http/route.js';
import { MAX_COUNT } from '../http/schemas.js';
import { TokenBucket } from '../http/token-bucket.js';
import type { Log } from '../ops/log.js';
import { readSecrets, type SecretSource, secretId } from './secrets.js';
import { hashOf, listTokens, missingFile, splitToken, type TokenFile, type TokenRecord } from './tokens.js';

interface Entry {
  readonly hash: Buffer;
  readonly caller: Caller;
}

/** The names that a token without the scope admin may begin: many at once, then one in a while. */
const NEW_NAMESPACES = [1 / 600, '100 new namespaces, and another one every 10 minutes', 100] as const;
const NEW_TENANTS = [0.1, '1000 new tenants of series, and another one every 10 s', 1000] as const;

/** The caller where no tokens are in use. */
const ANYBODY: Caller = { id: '', name: '', scopes: SCOPES, batch: MAX_COUNT };

/** The interval at which the file is checked for changes, ms. */
const INTERVAL = 500;

/** The tokens of a file, kept up to date while the server runs. */
export class AcceptedTokens {
  readonly #file: TokenFile | undefined;
  readonly #rate: number;
  readonly #log: Log;
  #entries = new Map<string, Entry>();
  #isRequired = false;
  /** The version of the file that was read last. */
  #version = '';
  #timer: ReturnType<typeof setInterval> | undefined;
  #records: readonly TokenRecord[] = [];
  readonly #secrets: SecretSource | undefined;
  #secretRecords: readonly TokenRecord[] = [];
  #secretVersion: string | undefined;

  /**
   * @param secrets tokens in a file of secrets or in a variable
   * @param file `undefined` for a server without tokens
   * @param rate requests per second for tokens without a rate of their own; 0 means no limit
   */
  constructor(file: TokenFile | undefined, rate: number, log: Log, secrets?: SecretSource) {
    this.#secrets = secrets;
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
    if (this.#file !== undefined) {
      await this.#read(this.#file);
      if (this.#file.isNamed && !this.#isRequired) throw missingFile(this.#file.path);
    }
    if (this.#secrets !== undefined) await this.#readSecrets(this.#secrets);
    if (this.#file === undefined && this.#secrets?.path === undefined) return;
    this.#timer = setInterval(() => {
      // A file that has become wrong is logged, and the tokens stay as they were.
      this.#readAgain().catch((error: unknown) => this.#log.error('tokens not read', { error }));
    }, INTERVAL).unref();
  }

  async #readAgain(): Promise<void> {
    if (this.#file !== undefined) await this.#read(this.#file);
    if (this.#secrets?.path !== undefined) await this.#readSecrets(this.#secrets);
  }

  async #readSecrets(source: SecretSource): Promise<void> {
    const version = source.path === undefined ? '' : await versionOf(source.path);
    if (version === this.#secretVersion) return;
    this.#secretRecords = readSecrets(await source.read(), source.name);
    this.#isRequired = true;
    this.#secretVersion = version;
    this.#accept();
  }

  /** Accepts the tokens of both sources. */
  #accept(): void {
    const old = this.#entries;
    const records = [...this.#records, ...this.#secretRecords];
    this.#entries = new Map(records.map((record) => [record.id, this.#entryOf(record, old)]));
    this.#log.info('tokens read', { tokens: this.#entries.size });
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** @throws RequestProblem 401 if a token is required and the header has no valid one */
  callerOf(authorization: string | undefined): Caller {
    if (!this.#isRequired) return ANYBODY;
    if (authorization === undefined)
      throw unauthorized('this route needs a token: send the header Authorization: Bearer TOKEN');
    const [, sent] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
    if (sent === undefined)
      throw unauthorized(
        'this header Authorization has no bearer token: send the word Bearer and the token, as in Authorization: Bearer TOKEN',
      );
    const caller = this.#find(sent);
    if (caller?.expires !== undefined && caller.expires <= Date.now())
      throw unauthorized(
        `this token has expired at ${new Date(caller.expires).toISOString()}: idsmith token create makes another one`,
      );
    if (caller !== undefined) return caller;
    throw unauthorized(
      'this token is not known here, or was revoked: idsmith token list shows the tokens of a server, and ' +
        'idsmith token create makes one',
    );
  }

  /** The caller with this token: one of the token file, or a secret. */
  #find(sent: string): Caller | undefined {
    for (const token of [splitToken(sent), { id: secretId(sent), secret: sent }]) {
      const entry = token && this.#entries.get(token.id);
      if (entry !== undefined && timingSafeEqual(hashOf(token!.secret), entry.hash)) return entry.caller;
    }
    return undefined;
  }

  async #read({ path }: TokenFile): Promise<void> {
    const version = await versionOf(path);
    if (version === this.#version) return;
    const records = await listTokens(path);
    this.#records = records ?? [];
    this.#isRequired ||= records !== undefined;
    this.#version = version;
    this.#accept();
  }

  /** Makes the entry of a token. A token with an unchanged rate keeps its rate limit. */
  #entryOf(record: TokenRecord, old: ReadonlyMap<string, Entry>): Entry {
    const { id, name, scopes, hash, expires, batch = MAX_COUNT } = record;
    const rate = record.rate ?? this.#rate;
    const before = old.get(id)?.caller;
    const kept = before?.bucket?.rate === rate ? before.bucket : undefined;
    const bucket = kept ?? (rate === 0 ? undefined : new TokenBucket(rate));
    const isAdmin = scopes.includes('admin');
    return {
      hash: Buffer.from(hash, 'hex'),
      caller: {
        id,
        name,
        scopes,
        batch: Math.min(batch, MAX_COUNT),
        ...(bucket && { bucket }),
        ...(!isAdmin && {
          namespaces: before?.namespaces ?? new TokenBucket(...NEW_NAMESPACES),
          tenants: before?.tenants ?? new TokenBucket(...NEW_TENANTS),
        }),
        ...(expires !== undefined && { expires: Date.parse(expires) }),
      },
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
