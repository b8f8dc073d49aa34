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
  return refuse('client', 'a client of the package ioredis or redis', client);
}
