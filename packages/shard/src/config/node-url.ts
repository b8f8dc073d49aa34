import { InvalidOptionError } from 'idsmith/internal';

/** The parts of a URL like `rediss://user:password@host:6379/2`. */
export interface NodeUrl {
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly tls: boolean;
  readonly database: string | undefined;
}

/**
 * Reads the URL of a node.
 *
 * @param option the entry, for messages. They never show the URL, which may hold a password.
 * @throws InvalidOptionError naming the part that is wrong
 */
export function readNodeUrl(option: string, text: string): NodeUrl {
  if (!URL.canParse(text) || !/^rediss?:$/.test(new URL(text).protocol))
    throw new InvalidOptionError(
      `${option} must be [port, host, weight], an object, or a URL like rediss://user:password@host:6379`,
    );
  const url = new URL(text);
  if (url.search !== '' || url.hash !== '')
    throw new InvalidOptionError(`${option} must be a URL without ? and #: give other settings in an object`);
  if (url.hostname === '') throw new InvalidOptionError(`${option} must be a URL with a host`);
  const database = url.pathname.replace(/^\/$/, '').slice(1);
  if (!/^\d{0,5}$/.test(database))
    throw new InvalidOptionError(`${option} must be a URL that ends in the number of a database, like /2`);
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? 6379 : Number(url.port),
    user: decoded(option, url.username),
    password: decoded(option, url.password),
    tls: url.protocol === 'rediss:',
    database: database === '' ? undefined : database,
  };
}

function decoded(option: string, text: string): string | undefined {
  try {
    return text === '' ? undefined : decodeURIComponent(text);
  } catch {
    throw new InvalidOptionError(
      `${option} has a % in its user or password that is not followed by two hex digits`,
    );
  }
}
