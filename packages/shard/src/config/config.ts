import { InvalidOptionError, refuse, requireChoice, requireInteger, requireKnown } from 'idsmith/internal';
import { type NodeLogin, readAuth, type ShardAuth } from './auth.js';
import { isClusterSettings, readClusterSettings, type ShardCluster } from './cluster-settings.js';
import { requireText, type ShardEntry } from './shard-entry.js';
import { CLUSTER, type NodesAndLogins, readShards, type ShardNode } from './shard-nodes.js';

/**
 * A client of the package `ioredis` or `redis`. The commands have no types here, because neither package has to
 * be installed. `new ShardMap<RedisClientType>(…)` gives them types.
 */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type AnyClient = any;

/** A package that talks to Redis. */
export type DriverName = 'redis' | 'ioredis';

/** The `options` of a config. */
export interface ShardOptions {
  /** The Redis key that holds the sequence of each node. Default `$EQUENCE`. */
  readonly seqname?: string;
  /** The start of the keys' time, Unix ms, in the past. Default 1325404800000, which is 1 January 2012. */
  readonly epoch?: number;
  /** Types by name, 0 to 3843. `$DEF` is always 3843. */
  readonly keyTypes?: Readonly<Record<string, number>>;
  /** Keys with a fixed timestamp, each with the name of its type. */
  readonly specialKeys?: Readonly<Record<string, readonly [number, string]>>;
  /** Short forms of property names, for `minify` and `maxify`. */
  readonly subKeys?: Readonly<Record<string, string>>;
  /**
   * The largest step back of a node's clock that happens together with the loss of the node's sequence, in ms. A sequence is
   * lost when a node is restarted or replaced, or when the sequence is deleted. The node then does not mint for so long.
   * Default 1,000. Use the same value in all processes.
   */
  readonly maxSkew?: number;
  /** The longest time that a node may take to answer, ms. Default 2,000. */
  readonly timeout?: number;
}

/** The config of a `ShardMap`: the config object of Shardjs, or a Redis Cluster in place of the shards. */
export interface ShardConfig<Client = AnyClient> {
  /** The nodes. Their order decides which milliseconds each node mints. */
  readonly shards?: Readonly<Record<string, ShardEntry>>;
  /**
   * A Redis Cluster client of `ioredis` or `redis`, or some nodes of the cluster. The slots of the cluster then place the keys. Given
   * nodes, the map makes the client with `ioredis`.
   */
  readonly cluster?: Client | ShardCluster;
  /**
   * Gives keys with a suffix hash tags, beside `cluster`: `K-part` is called `{K}-part` in the cluster, so that it is in the slot of
   * `K`. `getClient` then takes the names without tags. Default false.
   */
  readonly hashTags?: boolean;
  /**
   * The map takes over from another one. `genKey` then refuses until a resharding has handed minting over to the nodes of this map.
   * Without it, empty nodes begin to mint at once, as the nodes of a new map do. Default false.
   */
  readonly takesOver?: boolean;
  /** The login for all nodes that have none of their own. */
  readonly auth?: ShardAuth | null | undefined;
  readonly options?: ShardOptions;
  /**
   * The package that the map makes its clients with. Default `redis` if it is installed, otherwise `ioredis`. Sentinels and
   * `cluster.nodes` need `ioredis`.
   */
  readonly driver?: DriverName;
  /** Makes the client of a node with `ioredis` or `redis`, ready to be used, in place of the map. */
  readonly createClient?: (node: ShardNode) => Client;
}

/** 1 January 2012, the default of Shardjs. */
const DEFAULT_EPOCH = 1_325_404_800_000;

/** The checked config, without key types, special keys and short names. */
export interface ShardSettings {
  readonly nodes: readonly ShardNode[];
  readonly isCluster: boolean;
  readonly hashTags: boolean;
  readonly takesOver: boolean;
  /** The login of each node, in the order of the nodes. */
  readonly logins: readonly NodeLogin[];
  readonly driver: DriverName | undefined;
  readonly seqname: string;
  readonly epoch: number;
  readonly maxSkew: number;
  readonly timeout: number;
}

const CONFIG_NAMES = [
  'shards',
  'cluster',
  'hashTags',
  'takesOver',
  'auth',
  'options',
  'driver',
  'createClient',
];
const OPTION_NAMES = ['seqname', 'epoch', 'keyTypes', 'specialKeys', 'subKeys', 'maxSkew', 'timeout'];

/**
 * The nodes of a config, checked.
 *
 * @throws InvalidOptionError naming the entry that is wrong or unknown, or when the config has a Redis Cluster
 */
export function shardNodesOf(config: ShardConfig): readonly ShardNode[] {
  if (config?.cluster !== undefined && config.shards === undefined)
    throw new InvalidOptionError('the config must have shards: a Redis Cluster places keys by its own slots');
  return readConfig(config).nodes;
}

/**
 * Checks a config.
 *
 * @throws InvalidOptionError naming the entry that is wrong or unknown, and never the password
 */
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
    ...(isCluster ? readCluster(config) : readShards(config.shards as object, readAuth('auth', config.auth))),
    isCluster,
    hashTags: readHashTags(config.hashTags, isCluster),
    takesOver: readTakesOver(config.takesOver),
    driver:
      config.driver === undefined ? undefined : requireChoice('driver', config.driver, ['redis', 'ioredis']),
    seqname: requireText('seqname', options.seqname ?? '$EQUENCE'),
    epoch,
    maxSkew: requireInteger('maxSkew', options.maxSkew ?? 1000, 0, 86_400_000),
    timeout: requireInteger('timeout', options.timeout ?? 2000, 1, 2 ** 31 - 1),
  };
}

function readCluster({ cluster, auth, createClient }: ShardConfig<unknown>): NodesAndLogins {
  if (typeof cluster !== 'object' || cluster === null)
    refuse('cluster', 'an object with nodes, or a client of a Redis Cluster', cluster);
  if (!isClusterSettings(cluster)) return CLUSTER;
  if (createClient !== undefined)
    throw new InvalidOptionError(
      'createClient must be left out beside cluster.nodes: give the client of the cluster as cluster',
    );
  return { ...CLUSTER, logins: [readClusterSettings(cluster, readAuth('auth', auth))] };
}

function readTakesOver(value: unknown): boolean {
  if (value !== undefined && typeof value !== 'boolean') refuse('takesOver', 'true or false', value);
  return value ?? false;
}

function readHashTags(value: unknown, isCluster: boolean): boolean {
  if (value !== undefined && typeof value !== 'boolean') refuse('hashTags', 'true or false', value);
  if (value === true && !isCluster)
    throw new InvalidOptionError(
      'hashTags must be left out without a cluster: a ring keeps K and K-part together',
    );
  return value ?? false;
}
