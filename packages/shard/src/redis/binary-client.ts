import { type CommandPart, InvalidOptionError, refuse, type ScriptClient } from 'idsmith/internal';

// Clients that send and receive bytes, of either driver. Keys that are moved, and their values, may be any bytes.

/** Either driver, for any command in bytes. */
export interface BinaryClient extends ScriptClient {
  /** Sends one command. Text in the reply comes as bytes. */
  send(...parts: CommandPart[]): Promise<unknown>;
}

/** The parts of clients of `ioredis` and `redis` that send and receive bytes. */
interface DriverInBytes {
  callBuffer?(...parts: (string | Uint8Array)[]): Promise<unknown>;
  evalSha?: unknown;
  sendCommand?(parts: (string | Uint8Array)[], options: { readonly typeMapping: object }): Promise<unknown>;
  readonly options?: { readonly keyPrefix?: string };
}

/** The type of text replies in the package `redis`: their first byte, `$`. */
const BLOB_STRING = 36;

/**
 * A client of either driver that sends and receives bytes. The client must not put a prefix before keys.
 *
 * @throws InvalidOptionError when the client has a `keyPrefix`, or belongs to neither driver
 */
export function binaryClient(client: unknown): BinaryClient {
  const send =
    senderInBytes((client ?? {}) as DriverInBytes) ??
    refuse('client', 'a client of the package ioredis or redis', client);
  return {
    send: async (...parts) => send(parts.map(bytesForDriver)),
    evaluate: async (command, script, keys, args) =>
      send([command, script, keys.length, ...keys, ...args].map(bytesForDriver)),
  };
}

function senderInBytes(driver: DriverInBytes) {
  if (driver.options?.keyPrefix) refuse('keyPrefix', 'empty for resharding', driver.options.keyPrefix);
  if (typeof driver.callBuffer === 'function')
    return (parts: (string | Uint8Array)[]) => driver.callBuffer?.(...parts);
  if (typeof driver.evalSha !== 'function' || typeof driver.sendCommand !== 'function') return undefined;
  // Not `withTypeMapping`: version 5 does not use its types in `sendCommand`.
  const options = { typeMapping: { [BLOB_STRING]: Buffer } };
  return (parts: (string | Uint8Array)[]) => driver.sendCommand?.(parts, options);
}

/** The part as drivers take it. Bytes become a `Buffer`, because drivers take no other bytes. */
export function bytesForDriver(part: CommandPart): string | Uint8Array {
  if (typeof part !== 'object') return String(part);
  return Buffer.isBuffer(part) ? part : Buffer.from(part.buffer, part.byteOffset, part.byteLength);
}

/** A client of a whole Redis Cluster, of either driver. */
export interface ClusterClient extends BinaryClient {
  /** The clients of the present masters, which the cluster client itself uses. */
  masters(): Promise<readonly BinaryClient[]>;
}

/** The part of `Cluster` of the package `ioredis` that is used here. */
interface IoredisCluster {
  nodes(role: 'master'): readonly unknown[];
  callBuffer(...parts: (string | Uint8Array)[]): Promise<unknown>;
  readonly options?: ClusterOptions;
}

/** The part of a cluster client of the package `redis` that is used here. */
interface NodeRedisCluster {
  readonly masters: readonly unknown[];
  /** The replicas that the client reads from. */
  readonly replicas?: readonly unknown[];
  readonly _options?: { readonly useReplicas?: boolean };
  readonly _keyPrefix?: string;
  nodeClient(node: unknown): unknown;
  sendCommand(
    firstKey: string | Uint8Array,
    isReadonly: boolean,
    parts: (string | Uint8Array)[],
    options: object,
  ): Promise<unknown>;
}

interface ClusterOptions {
  readonly keyPrefix?: string;
  readonly scaleReads?: unknown;
  readonly redisOptions?: { readonly keyPrefix?: string };
}

/**
 * A client of a Redis Cluster that sends and receives bytes. All keys of a command are in one slot. The first key follows the name
 * of the command.
 *
 * @throws InvalidOptionError when the client is not one of a cluster, has a `keyPrefix`, or reads from replicas
 */
export function clusterClient(client: unknown): ClusterClient {
  const send = senderOf(client);
  return {
    send: (...parts) => send(parts[1] ?? '', parts),
    evaluate: (command, script, keys, args) =>
      send(keys[0] ?? '', [command, script, keys.length, ...keys, ...args]),
    masters: async () => (await mastersOf(client)).map(binaryClient),
  };
}

type Send = (key: CommandPart, parts: CommandPart[]) => Promise<unknown>;

function senderOf(client: unknown): Send {
  const { nodes, callBuffer, options } = (client ?? {}) as Partial<IoredisCluster>;
  if (typeof nodes === 'function' && typeof callBuffer === 'function') {
    refuseOptions(options ?? {});
    const cluster = client as IoredisCluster;
    return (_, parts) => cluster.callBuffer(...parts.map(bytesForDriver));
  }
  const cluster = (client ?? {}) as NodeRedisCluster;
  if (typeof cluster.nodeClient !== 'function')
    return refuse('cluster', 'a cluster client of the package ioredis or redis', client);
  const { _keyPrefix: keyPrefix, _options, replicas = [] } = cluster;
  refuseOptions({ ...(typeof keyPrefix === 'string' && { keyPrefix }) });
  if (_options?.useReplicas === true || replicas.length > 0) refuseReplicas('useReplicas must be false');
  const typeMapping = { typeMapping: { [BLOB_STRING]: Buffer } };
  return (key, parts) =>
    cluster.sendCommand(bytesForDriver(key), false, parts.map(bytesForDriver), typeMapping);
}

function refuseOptions({ keyPrefix, scaleReads, redisOptions }: ClusterOptions): void {
  const prefix = keyPrefix || redisOptions?.keyPrefix;
  if (prefix) refuse('keyPrefix', 'empty for resharding', prefix);
  if (scaleReads !== undefined && scaleReads !== 'master') refuseReplicas('scaleReads must be master');
}

function refuseReplicas(rule: string): never {
  throw new InvalidOptionError(
    `${rule} while keys are moved: a replica may not have a key yet that has been moved`,
  );
}

async function mastersOf(client: unknown): Promise<readonly unknown[]> {
  const { nodes, nodeClient, masters } = client as Partial<IoredisCluster & NodeRedisCluster>;
  if (typeof nodes === 'function') return nodes.call(client, 'master');
  return Promise.all((masters ?? []).map((master) => nodeClient?.call(client, master)));
}
