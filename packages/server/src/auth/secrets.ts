import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { InvalidOptionError, StoreError } from 'idsmith';
import { shownPath } from 'idsmith/internal';
import { SCOPES, type Scope } from '../http/route.js';
import { hashOf, readExpiry, type TokenRecord } from './tokens.js';

/** Secrets that are text in a file, or in an environment variable. */
export interface SecretSource {
  /** The path of the file; `undefined` for a variable. */
  readonly path: string | undefined;
  /** The source in messages. */
  readonly name: string;
  read(): Promise<string>;
}

/** The shortest secret. A secret of 256 random bits has 43 characters in base64. */
const MIN_SECRET = 32;

/** The fewest different characters of a secret. One of 32 random digits in hex has fewer than 8 once in 10^7. */
const MIN_VARIETY = 8;

/** The source that the setting `secrets` means: `env:NAME` is a variable, everything else a file. */
export function secretSourceOf(setting: string): SecretSource | undefined {
  if (setting === '') return undefined;
  const [, variable] = /^env:(.+)$/.exec(setting) ?? [];
  if (variable !== undefined && !/^\w+$/.test(variable))
    throw new InvalidOptionError(
      'secrets: env: must be followed by the name of a variable, as in env:TOKENS. What follows is not shown, because it may be a secret',
    );
  if (variable !== undefined)
    return {
      path: undefined,
      name: `the variable ${variable}`,
      async read() {
        const text = process.env[variable];
        if (text) return text;
        throw new InvalidOptionError(`secrets: the variable ${variable} is not set`);
      },
    };
  return {
    path: setting,
    name: setting,
    async read() {
      try {
        return await readFile(setting, 'utf8');
      } catch (error) {
        // Without the cause, whose message has the path.
        const { code, message } = error as NodeJS.ErrnoException;
        throw new StoreError(`secrets: ${shownPath(setting)} cannot be read: ${code ?? message}`);
      }
    },
  };
}

/**
 * The tokens of a text: a line `NAME SCOPES SECRET` for each, with the day or time of its end behind the secret. Lines that begin with
 * `#` are comments. Several lines may have the same name, so that a new secret can be rolled out before the old one goes.
 *
 * @throws InvalidOptionError naming the line; never the secret
 */
export function readSecrets(text: string, source: string): TokenRecord[] {
  const records: TokenRecord[] = [];
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    // A comment goes to the end of its line, whatever it has.
    if (line.trimStart().startsWith('#')) continue;
    const tokens = line.split(';').map((token) => token.trim());
    for (const token of tokens.filter((token) => token !== ''))
      records.push(recordOf(token.split(/\s+/), `line ${i + 1} of ${source}`));
  }
  if (records.length > 0) return records;
  throw new InvalidOptionError(`secrets: ${source} has no token: write a line NAME SCOPES SECRET for each`);
}

function recordOf(
  [name = '', scopeText = '', secret = '', expires, ...more]: string[],
  where: string,
): TokenRecord {
  const wrong = (what: string) => new InvalidOptionError(`secrets: ${where} ${what}`);
  if (more.length > 0) throw wrong('has more words than NAME SCOPES SECRET [EXPIRES]');
  if (!/^[\w.@-]{1,100}$/.test(name)) throw wrong('must begin with a name of letters, digits or . @ _ -');
  const scopes = scopeText.split(',') as Scope[];
  if (!scopes.every((scope) => SCOPES.includes(scope)))
    throw wrong(`must name one or more of ${SCOPES.join(', ')} after the name`);
  if (!/^[\x21-\x7e]+$/.test(secret) || secret.length < MIN_SECRET)
    throw wrong(
      `needs a secret of at least ${MIN_SECRET} characters, for example of openssl rand -base64 32`,
    );
  if (new Set(secret).size < MIN_VARIETY)
    throw wrong('has a secret that can be guessed: take one of openssl rand -base64 32');
  const hash = hashOf(secret).toString('hex');
  return {
    id: secretId(secret),
    name,
    scopes: SCOPES.filter((scope) => scopes.includes(scope)),
    hash,
    created: '',
    ...(expires !== undefined && { expires: endOf(expires, wrong) }),
  };
}

/** The end of a token. A text that is none may be a secret in the wrong place, so no message shows it. */
function endOf(text: string, wrong: (what: string) => Error): string {
  try {
    return readExpiry(text, Date.now());
  } catch {
    throw wrong(
      'must end with the secret, or with a day such as 2027-01-31, a time in ISO 8601, or 12h or 90d from now',
    );
  }
}

/** The public id of a secret: the beginning of its hash. */
export const secretId = (secret: string) => hashOf(secret).toString('hex').slice(0, 12);
