import { refuse } from '../options.js';

/** The methods that are used of a client of the package `ioredis`, a `Redis` or a `Cluster`. */
export interface IoredisClient {
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** The methods that are used of a client of the package `redis`, made by `createClient` or `createCluster`. */
export interface NodeRedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** A key, an argument or another part of a command. Keys and values may be any bytes. */
export type CommandPart = string | number | Uint8Array;

/** Either driver, as {@link ScriptRunner} uses it. */
export interface ScriptClient {
  /** @param script the text of the script for EVAL, its digest for EVALSHA */
  evaluate(
    command: 'EVAL' | 'EVALSHA',
    script: string,
    keys: readonly CommandPart[],
    args: readonly CommandPart[],
  ): Promise<unknown>;
}

/** Either driver, for any command in bytes. */
export interface BinaryClient extends ScriptClient {
  /** Sends one command. Text in the reply comes as bytes. */
  send(...parts: CommandPart[]): Promise<unknown>;
}

/**
 * A client of either driver that runs scripts in text.
 *
 * @throws InvalidOptionError when the client belongs to neither driver
 */
export function textClient(client: unknown): ScriptClient {
  const { evalSha, evalsha } = (client ?? {}) as Partial<NodeRedisClient & IoredisClient>;
  if (typeof evalSha === 'function') {
    const redis = client as NodeRedisClient;
    return {
      async evaluate(command, script, keys, args) {
        const options = { keys: keys.map(String), arguments: args.map(String) };
        return command === 'EVAL' ? redis.eval(script, options) : redis.evalSha(script, options);
      },
    };
  }
  if (typeof evalsha === 'function') {
    const redis = client as IoredisClient;
    return {
      async evaluate(command, script, keys, args) {
        const parts = [...keys, ...args].map(String);
        return command === 'EVAL'
          ? redis.eval(script, keys.length, ...parts)
          : redis.evalsha(script, keys.length, ...parts);
      },
    };
  }
  return refuseClient(client);
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
  const send = senderInBytes((client ?? {}) as DriverInBytes) ?? refuseClient(client);
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

function refuseClient(client: unknown): never {
  return refuse('client', 'a client of the package ioredis or redis', client);
}
