import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidOptionError, StoreError } from 'idsmith';
import { requireKnown } from 'idsmith/internal';
import { utf8Text } from 'idsmith/internal/cli';
import { SCOPES, type Scope } from '../http/route.js';

/** A token as the file keeps it: with the SHA-256 of its secret half instead of the token itself. */
export interface TokenRecord {
  /** The public half of the token. */
  readonly id: string;
  /** The name that people give the token. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The hash of the secret half, in hexadecimal digits. */
  readonly hash: string;
  /** The time of creation, in ISO 8601. */
  readonly created: string;
  /** Requests per second; 0 means no limit. Default: the server's setting `rate`. */
  readonly rate?: number;
  /** The most ids of one call. Default: the server's own limit. */
  readonly batch?: number;
  /** The time from which on the token is refused, in ISO 8601. Default: never. */
  readonly expires?: string;
}

/** The options of a new token. */
export type TokenOptions = Pick<TokenRecord, 'name' | 'scopes' | 'rate' | 'batch' | 'expires'>;

const OPTIONS: readonly (keyof TokenOptions)[] = ['name', 'scopes', 'rate', 'batch', 'expires'];

/** The token file, unless the setting `tokens` names another one. */
const DEFAULT_FILE = 'idsmith.tokens.json';

/** A token file. A file that the user has named must exist; the default file may be missing. */
export interface TokenFile {
  readonly path: string;
  readonly isNamed: boolean;
}

/** The file that the setting `tokens` means: the default file for an empty text, none for `none`. */
export function tokenFileOf(setting: string): TokenFile | undefined {
  if (setting === 'none') return undefined;
  return setting === '' ? { path: DEFAULT_FILE, isNamed: false } : { path: setting, isNamed: true };
}

/** The error for a file that was named and does not exist. */
export function missingFile(path: string): InvalidOptionError {
  return new InvalidOptionError(
    `tokens: ${path} does not exist: create it with idsmith token create --tokens ${path}, or remove the setting`,
  );
}

/** The number of attempts to lock the file while another command changes it. */
const LOCK_TRIES = 50;

/** The pause between two attempts, ms. */
const LOCK_PAUSE = 20;

/** Splits `idsmith_<id>_<secret>`. The secret has 256 random bits, so a single hash protects it. */
export function splitToken(token: string): { id: string; secret: string } | undefined {
  const match = /^idsmith_([0-9a-f]{12})_([\w-]{43})$/.exec(token);
  return match === null ? undefined : { id: match[1] as string, secret: match[2] as string };
}

export function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/**
 * Creates a token and adds it to the file, which is created if necessary. The token is returned here and cannot be shown again.
 *
 * @throws InvalidOptionError if an option is wrong, or the file has a token of that name
 */
export async function createToken(file: string, options: TokenOptions): Promise<string> {
  const { name, scopes, rate, batch, expires } = requireOptions(options);
  const [id, secret] = [randomBytes(6).toString('hex'), randomBytes(32).toString('base64url')];
  await change(file, (tokens) => {
    if (tokens.some((token) => token.name === name))
      throw new InvalidOptionError(`${file} already has a token ${JSON.stringify(name)}`);
    const record: TokenRecord = {
      id,
      name,
      scopes,
      hash: hashOf(secret).toString('hex'),
      created: new Date().toISOString(),
      ...(rate !== undefined && { rate }),
      ...(batch !== undefined && { batch }),
      ...(expires !== undefined && { expires }),
    };
    return [...tokens, record];
  });
  return `idsmith_${id}_${secret}`;
}

/**
 * Removes a token by its name or id. Servers notice within a second.
 *
 * @throws InvalidOptionError if the file has no such token
 */
export async function revokeToken(file: string, nameOrId: string): Promise<void> {
  await change(file, (tokens) => {
    const left = tokens.filter(({ id, name }) => id !== nameOrId && name !== nameOrId);
    if (left.length < tokens.length) return left;
    throw new InvalidOptionError(`${file} has no token ${JSON.stringify(nameOrId)}`);
  });
}

/**
 * Lists the tokens of a file; `undefined` if the file does not exist.
 *
 * @throws InvalidOptionError if it is not a token file, or not UTF-8
 */
export async function listTokens(file: string): Promise<TokenRecord[] | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new StoreError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const tokens = parse(utf8Text(bytes, file));
  if (tokens?.every(isRecord)) return tokens;
  throw new InvalidOptionError(`${file} is not a token file; create one with idsmith token create`);
}

function parse(text: string): unknown[] | undefined {
  try {
    const { tokens } = JSON.parse(text);
    return Array.isArray(tokens) ? tokens : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is TokenRecord {
  const {
    id,
    name,
    scopes,
    hash,
    rate = 0,
    batch = 1,
    expires = NEVER,
  } = (value ?? {}) as Partial<TokenRecord>;
  const isText = [id, name, hash].every((each) => typeof each === 'string');
  const isScopes = Array.isArray(scopes) && scopes.every((scope) => SCOPES.includes(scope));
  const isHash = /^[0-9a-f]{64}$/.test(hash as string);
  return isText && isScopes && isHash && isCount(rate, 0) && isCount(batch, 1) && isTime(expires);
}

const NEVER = '9999-12-31T00:00:00.000Z';

const isTime = (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value));

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 };

/**
 * The end of a token: a day or time in ISO 8601, or hours or days from now, such as `12h` and `90d`.
 *
 * @throws InvalidOptionError if it is neither, or in the past
 */
export function readExpiry(text: string, now: number, option = 'expires'): string {
  const [, count, unit = ''] = /^(\d{1,5})([hd])$/.exec(text) ?? [];
  const [, day] = /^(\d{4}-\d\d-\d\d)(T.+)?$/.exec(text) ?? [];
  // `Date` takes the 30th of February for the 2nd of March.
  const isDate = day !== undefined && isDay(day);
  const at =
    count !== undefined
      ? now + Number(count) * (UNITS[unit] as number)
      : isDate
        ? Date.parse(text)
        : Number.NaN;
  if (Number.isNaN(at))
    throw new InvalidOptionError(
      `${option} must be a day such as 2027-01-31, a time in ISO 8601, or 12h or 90d from now, not ${JSON.stringify(text.slice(0, 60))}`,
    );
  return new Date(at).toISOString();
}

const isDay = (text: string) => {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
};

const isCount = (value: unknown, min: number) => Number.isSafeInteger(value) && (value as number) >= min;

function requireOptions(options: TokenOptions): TokenOptions {
  requireKnown('options', options, OPTIONS);
  const { name, scopes, rate, batch, expires } = options;
  if (expires !== undefined && !(isTime(expires) && Date.parse(expires) > Date.now()))
    throw new InvalidOptionError(
      `expires must be a time in the future, in ISO 8601, not ${JSON.stringify(expires)}`,
    );
  if (typeof name !== 'string' || !/^[\w.@ -]{1,100}$/.test(name))
    throw new InvalidOptionError(
      `name must be 1 to 100 letters, digits, spaces or . @ _ -, not ${JSON.stringify(String(name).slice(0, 60))}`,
    );
  const unknown = scopes.find((scope) => !SCOPES.includes(scope));
  if (scopes.length === 0 || unknown !== undefined)
    throw new InvalidOptionError(
      `scope must be one or more of ${SCOPES.join(', ')}, not ${JSON.stringify(unknown ?? '')}`,
    );
  if (rate !== undefined && !isCount(rate, 0))
    throw new InvalidOptionError(`rate must be a whole number of requests per second, not ${rate}`);
  if (batch !== undefined && !isCount(batch, 1))
    throw new InvalidOptionError(`batch must be a whole number of ids, at least 1, not ${batch}`);
  return { ...options, scopes: SCOPES.filter((scope) => scopes.includes(scope)) };
}

/** Changes the file under a lock, and replaces it in one atomic step. */
async function change(file: string, next: (tokens: TokenRecord[]) => TokenRecord[]): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const lock = `${file}.lock`;
  const handle = await acquireLock(lock);
  try {
    const tokens = next((await listTokens(file)) ?? []);
    const draft = `${file}.new`;
    await writeFile(draft, `${JSON.stringify({ tokens }, undefined, 2)}\n`, { mode: 0o600 });
    await rename(draft, file);
  } finally {
    await handle.close();
    await rm(lock, { force: true });
  }
}

async function acquireLock(lock: string) {
  for (let tries = 1; ; tries++) {
    try {
      return await open(lock, 'wx');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
        throw new StoreError(`${lock} cannot be created: ${(error as Error).message}`, { cause: error });
      if (tries === LOCK_TRIES)
        throw new StoreError(
          `${lock} exists, so another command is changing the tokens; if no other command is running, remove the file`,
          { cause: error },
        );
      await sleep(LOCK_PAUSE);
    }
  }
}
