import { InvalidOptionError, requireKnown, show } from 'idsmith/internal';

/** A login. */
export interface ShardAuth {
  /** For Redis 6 and later. Without a user, `password` is the one of `requirepass`. */
  readonly user?: string;
  /** Another name for `user`. */
  readonly username?: string;
  /** Another name for `user`, as in configs of Shardjs. */
  readonly userid?: string;
  readonly password?: string;
}

/** A checked login. */
export interface Auth {
  readonly user: string | undefined;
  readonly password: string | undefined;
}

const USER_NAMES = ['user', 'username', 'userid'];

/** The names of `ShardAuth`. */
export const AUTH_NAMES = [...USER_NAMES, 'password'];

/**
 * Reads a login that is an object of its own.
 *
 * @param option the name of the object in messages
 * @throws InvalidOptionError naming the entry that is wrong, and never the password
 */
export function readAuth(option: string, auth: unknown): Auth {
  if (auth === undefined || auth === null) return { user: undefined, password: undefined };
  // The message does not show the wrong value, because the value may be the password.
  if (typeof auth !== 'object') throw new InvalidOptionError(`${option} must be an object with a password`);
  return pickAuth(option, requireKnown(option, auth, AUTH_NAMES));
}

/** Reads the login among other settings. */
export function pickAuth(option: string, settings: object): Auth {
  const { password, ...given } = settings as Record<string, unknown>;
  const users = USER_NAMES.filter((name) => given[name] !== undefined);
  const [name] = users;
  const user = name === undefined ? undefined : given[name];
  for (const [entry, value] of Object.entries({ [name ?? 'user']: user, password }))
    if (value !== undefined && (typeof value !== 'string' || value === ''))
      throw new InvalidOptionError(`${option}.${entry} must be text`);
  for (const other of users.slice(1))
    if (given[other] !== user)
      throw new InvalidOptionError(
        `${option}.${name} is ${show(user)} and ${option}.${other} is ${show(given[other])}: give only one of them`,
      );
  if (user !== undefined && password === undefined)
    throw new InvalidOptionError(`${option}.password is missing: ${option}.${name} needs one`);
  return { user: user as string | undefined, password: password as string | undefined };
}

/** The way to log in to one node. */
export interface NodeLogin {
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** `true`, or options of `tls.connect`. */
  readonly tls: boolean | Readonly<Record<string, unknown>>;
  readonly database: number;
  /** The Sentinels that know where the master of the node is. */
  readonly sentinel: SentinelSettings | undefined;
  /** Some nodes of a Redis Cluster, if the node is a whole cluster. */
  readonly cluster?: readonly NodeAddress[];
}

/** The address of a server. */
export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

/** Sentinels, and the name of a master that they watch. */
export interface SentinelSettings {
  readonly master: string;
  readonly nodes: readonly NodeAddress[];
  readonly user: string | undefined;
  readonly password: string | undefined;
}
