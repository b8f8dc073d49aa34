import { bytesToHex } from '../encoding/hex.js';
import { refuse } from '../options.js';
import { storeError } from '../support/store-error.js';

/** What is needed of a client of the package `ioredis`, a `Redis` or a `Cluster`. */
export interface IoredisClient {
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** What is needed of a client of the package `redis`, made by `createClient` or `createCluster`. */
export interface NodeRedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/**
 * What scripts begin with that must know what they are run by: `server` is its replication id.
 *
 * A restart may have lost the last writes, and so may the replica that a failover promotes. Redis takes a new
 * replication id on both occasions and never an old one again; the run id would be the same when a master, demoted
 * and synchronised with the older data of its successor, is promoted a second time. Replicas share their master's
 * replication id, hence the look at the role.
 */
export const ON_MASTER = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication gives no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY the master is needed, and this is a replica')
end
`;

/** Runs a script on one key; `operation` is for its error. */
export type Evaluate = (
  operation: string,
  script: string,
  key: string,
  ...args: string[]
) => Promise<unknown>;

/** What runs scripts with either kind of client, and answers or fails within `timeout` ms. */
export function evaluator(client: IoredisClient | NodeRedisClient, timeout: number): Evaluate {
  const send = sender(client);
  const run = async (script: string, key: string, args: string[]) => {
    try {
      return await send('sha', await sha1(script), key, args);
    } catch (error) {
      // Nothing was run: the server has started, or its scripts were flushed, since it last saw this one.
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return send('text', script, key, args);
    }
  };
  return async (operation, script, key, ...args) => {
    try {
      return await within(timeout, run(script, key, args));
    } catch (error) {
      throw storeError(`redis store: ${operation}`, error);
    }
  };
}

type Send = (kind: 'sha' | 'text', script: string, key: string, args: string[]) => Promise<unknown>;

function sender(client: IoredisClient | NodeRedisClient): Send {
  const has = (method: string) =>
    typeof (client as unknown as Record<string, unknown>)?.[method] === 'function';
  if (has('evalSha')) {
    const redis = client as NodeRedisClient;
    return async (kind, script, key, args) =>
      redis[kind === 'sha' ? 'evalSha' : 'eval'](script, { keys: [key], arguments: args });
  }
  if (has('evalsha')) {
    const redis = client as IoredisClient;
    return async (kind, script, key, args) =>
      redis[kind === 'sha' ? 'evalsha' : 'eval'](script, 1, key, ...args);
  }
  return refuse('client', 'a client of the package ioredis or redis', client);
}

const digests = new Map<string, Promise<string>>();

/** There are about ten scripts, and one of them is run for each block: their digests are made once. */
function sha1(script: string): Promise<string> {
  const digest = digests.get(script) ?? digestOf(script);
  digests.set(script, digest);
  return digest;
}

async function digestOf(text: string): Promise<string> {
  return bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text))));
}

/** Fails when there is no answer in time. The command may still be run later, which all of them allow for. */
async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  return Promise.race([answer, silence]).finally(() => clearTimeout(timer));
}
