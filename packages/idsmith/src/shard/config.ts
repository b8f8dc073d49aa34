import { InvalidOptionError } from '../errors.js';
import { refuse, requireInteger, requireKnown, show } from '../options.js';
import { VARIANTS } from './keys/codec.js';
import type { AnyClient } from './nodes/clients.js';
import { MAX_WEIGHT } from './ring/hash-ring.js';

/** A node of the ring. */
export interface ShardNode {
  /** What the config calls it. */
  readonly id: string;
  /** Its place among the nodes: the virtual shard whose milliseconds it mints. */
  readonly index: number;
  /** `host:port`, its name on the ring. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly weight: number;
}

/** Port, host and weight, as upstream has them. Port and weight may be digits; the weight is 1 if it is left out. */
export type ShardEntry = readonly [port: number | string, host: string, weight?: number | string];

/** How to log in to the nodes, all in the same way. */
export interface ShardAuth {
  /** Redis 6 and later; left out, the password is the one of `requirepass`. */
  readonly user?: string;
  /** Another name for `user`. */
  readonly username?: string;
  readonly password?: string;
}

/** The `options` of a config. */
export interface ShardOptions {
  /** The Redis key on each node that keeps what was minted there. Default `$EQUENCE`. */
  readonly seqname?: string;
  /** What keys count their milliseconds from, Unix ms, in the past. Default 1325404800000, which is 1 January 2012. */
  readonly epoch?: number;
  /** Names of types, 0 to 3843. `$DEF` is always 3843. */
  readonly keyTypes?: Readonly<Record<string, number>>;
  /** Keys with a fixed place: the timestamp that goes into them, and the name of their type. */
  readonly specialKeys?: Readonly<Record<string, readonly [number, string]>>;
  /** Short forms of property names, for `minify` and `maxify`. */
  readonly subKeys?: Readonly<Record<string, string>>;
  /**
   * How far the clock of a node may be behind what it was, in ms, at a moment when the node has lost what it minted: it
   * was restarted or replaced, or its sequence was deleted. For so long it then does not mint. Default 1,000; the
   * same in all processes.
   */
  readonly maxSkew?: number;
  /** How long a node may take to answer, ms. Default 2,000. */
  readonly timeout?: number;
}

/** What a `ShardMap` is made of: upstream's config object, or a Redis Cluster in place of its shards. */
export interface ShardConfig<Client = AnyClient> {
  /** The nodes. Their order decides which milliseconds each of them mints. */
  readonly shards?: Readonly<Record<string, ShardEntry>>;
  /** A client of a Redis Cluster, of `ioredis` or `redis`, whose own slots then place the keys. */
  readonly cluster?: Client;
  readonly auth?: ShardAuth | null | undefined;
  readonly options?: ShardOptions;
  /** Makes the client of a node, of `ioredis` or `redis`, ready to be used. Default: one of `ioredis`. */
  readonly createClient?: (node: ShardNode) => Client;
}

/** January 1st 2012, as upstream has it. */
const DEFAULT_EPOCH = 1_325_404_800_000;

/** The config without what belongs to key types, special keys and short names. */
export interface ShardSettings {
  readonly nodes: readonly ShardNode[];
  readonly isCluster: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly seqname: string;
  readonly epoch: number;
  readonly maxSkew: number;
  readonly timeout: number;
}

const CONFIG_NAMES = ['shards', 'cluster', 'auth', 'options', 'createClient'];
const OPTION_NAMES = ['seqname', 'epoch', 'keyTypes', 'specialKeys', 'subKeys', 'maxSkew', 'timeout'];
const AUTH_NAMES = ['user', 'username', 'password'];

/** @throws InvalidOptionError naming the entry that is wrong or unknown; never the password */
export function readConfig(config: ShardConfig<unknown>): ShardSettings {
  if (typeof config !== 'object' || config === null) refuse('config', 'an object with shards', config);
  requireKnown('config', config, CONFIG_NAMES);
  const isCluster = config.cluster !== undefined;
  if (isCluster === (config.shards !== undefined))
    throw new InvalidOptionError('a config must have either shards or a cluster');
  const options: ShardOptions = requireKnown('options', config.options ?? {}, OPTION_NAMES);
  const now = Date.now();
  const epoch = requireInteger('epoch', options.epoch ?? DEFAULT_EPOCH, 0, 8.64e15);
  if (epoch > now) refuse('epoch', `a time in the past, before ${now}`, epoch);
  return {
    nodes: isCluster ? [CLUSTER] : readNodes(config.shards as object),
    isCluster,
    ...readAuth(config.auth),
    seqname: requireText('seqname', options.seqname ?? '$EQUENCE'),
    epoch,
    maxSkew: requireInteger('maxSkew', options.maxSkew ?? 1000, 0, 86_400_000),
    timeout: requireInteger('timeout', options.timeout ?? 2000, 1, 2 ** 31 - 1),
  };
}

const CLUSTER: ShardNode = { id: 'cluster', index: 0, name: 'cluster', host: '', port: 0, weight: 1 };

function readNodes(shards: object): ShardNode[] {
  if (typeof shards !== 'object' || shards === null)
    refuse('shards', 'an object of [port, host, weight]', shards);
  const entries = Object.entries(shards);
  if (entries.length < 1 || entries.length > VARIANTS)
    refuse('shards', `1 to ${VARIANTS} nodes`, entries.length);
  const nodes = entries.map(([id, entry], index) => readNode(id, entry, index));
  const byName = new Map<string, ShardNode>();
  for (const node of nodes) {
    const twin = byName.get(node.name);
    if (twin !== undefined)
      throw new InvalidOptionError(
        `shards.${node.id} has the address of shards.${twin.id}, ${node.name}: every node needs one of its own`,
      );
    byName.set(node.name, node);
  }
  return nodes;
}

function readNode(id: string, entry: unknown, index: number): ShardNode {
  if (!Array.isArray(entry)) refuse(`shards.${id}`, '[port, host, weight]', entry);
  if (entry.length > 3) refuse(`shards.${id}`, '[port, host, weight] and nothing more', entry);
  const port = requireInteger(`the port of shards.${id}`, toNumber(entry[0]), 1, 65_535);
  const host = requireText(`the host of shards.${id}`, entry[1]);
  const weight = requireInteger(`the weight of shards.${id}`, toNumber(entry[2] ?? 1), 1, MAX_WEIGHT);
  return { id, index, name: `${host}:${port}`, host, port, weight };
}

/** Digits as the number they stand for, since upstream's ports are text; anything else as it is. */
function toNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
}

function requireText(option: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && !/[\s\0]/.test(value)) return value;
  refuse(option, 'text without spaces', value);
}

function readAuth(auth: unknown): Pick<ShardSettings, 'user' | 'password'> {
  if (auth === undefined || auth === null) return { user: undefined, password: undefined };
  // What is wrong about it is never shown: it may be the password.
  if (typeof auth !== 'object') throw new InvalidOptionError('auth must be an object with a password');
  requireKnown('auth', auth, AUTH_NAMES);
  const { user, username, password } = auth as Record<string, unknown>;
  const name = user ?? username;
  for (const [option, value] of Object.entries({ user: name, password }))
    if (value !== undefined && (typeof value !== 'string' || value === ''))
      throw new InvalidOptionError(`auth.${option} must be text`);
  if (user !== undefined && username !== undefined && user !== username)
    throw new InvalidOptionError(`auth.user is ${show(user)} and auth.username ${show(username)}: give one`);
  if (name !== undefined && password === undefined)
    throw new InvalidOptionError('auth.password is missing, while auth.user is there');
  return { user: name as string | undefined, password: password as string | undefined };
}
