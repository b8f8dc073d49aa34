import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidOptionError, StoreError } from 'idsmith';
import { requireKnown } from '../config/known-names.js';
import { SCOPES, type Scope } from '../http/route.js';

/** What the file keeps of a token: not the token itself, but the SHA-256 of its secret half. */
export interface TokenRecord {
  /** The half of the token that is no secret. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** In hexadecimal digits. */
  readonly hash: string;
  /** When it was made, in ISO 8601. */
  readonly created: string;
  /** Requests a second; the server's own limit if it is left out, none if it is 0. */
  readonly rate?: number;
  /** The most ids of one call, if that is less than for others. */
  readonly batch?: number;
}

/** What a token may be made with. */
export type TokenOptions = Pick<TokenRecord, 'name' | 'scopes' | 'rate' | 'batch'>;

const OPTIONS: readonly (keyof TokenOptions)[] = ['name', 'scopes', 'rate', 'batch'];

/** Where tokens are kept unless a setting says otherwise. */
const USUAL_FILE = 'idsmith.tokens.json';

/** A file of tokens. One that somebody has named must be there; the usual one need not. */
export interface TokenFile {
  readonly path: string;
  readonly isNamed: boolean;
}

/** The file that the setting `tokens` means: the usual one for the empty text, none for `none`. */
export function tokenFileOf(setting: string): TokenFile | undefined {
  if (setting === 'none') return undefined;
  return setting === '' ? { path: USUAL_FILE, isNamed: false } : { path: setting, isNamed: true };
}

/** The error for a file that was named and is not there. */
export function missing(path: string): InvalidOptionError {
  return new InvalidOptionError(
    `tokens: ${path} is not there: make it with idsmith token create --tokens ${path}, or leave tokens out`,
  );
}

/** Another command may be writing the file; how often and how long to wait for it, ms. */
const TRIES = 50;
const PAUSE = 20;

/** `idsmith_<id>_<secret>`: 32 bytes of secret cannot be guessed, so one hash is enough to keep it. */
export function splitToken(token: string): { id: string; secret: string } | undefined {
  const match = /^idsmith_([0-9a-f]{12})_([\w-]{43})$/.exec(token);
  return match === null ? undefined : { id: match[1] as string, secret: match[2] as string };
}

export function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/**
 * Makes a token and adds it to the file, which is made if it is not there. The token is shown here and never again.
 *
 * @throws InvalidOptionError when an option is wrong, or there is a token of that name
 */
export async function createToken(file: string, options: TokenOptions): Promise<string> {
  const { name, scopes, rate, batch } = requireOptions(options);
  const [id, secret] = [randomBytes(6).toString('hex'), randomBytes(32).toString('base64url')];
  await change(file, (tokens) => {
    if (tokens.some((token) => token.name === name))
      throw new InvalidOptionError(`there is a token ${JSON.stringify(name)} in ${file}`);
    const record: TokenRecord = {
      ...{ id, name, scopes, hash: hashOf(secret).toString('hex'), created: new Date().toISOString() },
      ...(rate !== undefined && { rate }),
      ...(batch !== undefined && { batch }),
    };
    return [...tokens, record];
  });
  return `idsmith_${id}_${secret}`;
}

/** Removes a token by its name or id. Servers notice within a second. */
export async function revokeToken(file: string, nameOrId: string): Promise<void> {
  await change(file, (tokens) => {
    const left = tokens.filter(({ id, name }) => id !== nameOrId && name !== nameOrId);
    if (left.length < tokens.length) return left;
    throw new InvalidOptionError(`there is no token ${JSON.stringify(nameOrId)} in ${file}`);
  });
}

/**
 * The tokens in a file; `undefined` if there is no file.
 *
 * @throws InvalidOptionError when the file is not one of tokens
 */
export async function listTokens(file: string): Promise<TokenRecord[] | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new StoreError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const tokens = parse(text);
  if (tokens?.every(isRecord)) return tokens;
  throw new InvalidOptionError(`${file} is not a file of tokens; make one with idsmith token create`);
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
  const { id, name, scopes, hash, rate = 0, batch = 1 } = (value ?? {}) as Partial<TokenRecord>;
  const isText = [id, name, hash].every((each) => typeof each === 'string');
  const isScopes = Array.isArray(scopes) && scopes.every((scope) => SCOPES.includes(scope));
  return isText && isScopes && /^[0-9a-f]{64}$/.test(hash as string) && isCount(rate, 0) && isCount(batch, 1);
}

const isCount = (value: unknown, min: number) => Number.isSafeInteger(value) && (value as number) >= min;

function requireOptions(options: TokenOptions): TokenOptions {
  requireKnown('options', options, OPTIONS);
  const { name, scopes, rate, batch } = options;
  if (typeof name !== 'string' || !/^[\w.@ -]{1,100}$/.test(name))
    throw new InvalidOptionError('the name of a token must be 1 to 100 letters, digits, spaces or . @ _ -');
  const unknown = scopes.find((scope) => !SCOPES.includes(scope));
  if (scopes.length === 0 || unknown !== undefined)
    throw new InvalidOptionError(
      `scope must be of ${SCOPES.join(', ')}, not ${JSON.stringify(unknown ?? '')}`,
    );
  if (rate !== undefined && !isCount(rate, 0))
    throw new InvalidOptionError(`rate must be a whole number of requests a second, not ${rate}`);
  if (batch !== undefined && !isCount(batch, 1))
    throw new InvalidOptionError(`batch must be a whole number of ids, at least 1, not ${batch}`);
  return { ...options, scopes: SCOPES.filter((scope) => scopes.includes(scope)) };
}

/** Changes the file in one step that nobody sees the middle of, and one at a time. */
async function change(file: string, next: (tokens: TokenRecord[]) => TokenRecord[]): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const lock = `${file}.lock`;
  const handle = await locked(lock);
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

async function locked(lock: string) {
  for (let tries = 1; ; tries++) {
    try {
      return await open(lock, 'wx');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
        throw new StoreError(`${lock} cannot be made: ${(error as Error).message}`, { cause: error });
      if (tries === TRIES)
        throw new StoreError(`${lock} is there: if no other command is at work, remove it`, { cause: error });
      await sleep(PAUSE);
    }
  }
}
