import { bytesToHex } from '../../encoding/hex.js';
import { IdError } from '../../errors.js';
import { refuse } from '../../options.js';
import type { ShardNode } from '../config.js';
import type { ShardMap } from '../shard-map.js';

/** The longest time that a node may take to answer one command, ms. A large value takes long. */
const TIMEOUT = 30_000;

/** One word of a command. Keys and values may be any bytes. */
export type CommandWord = string | number | Uint8Array;

/** Sends one command. Text in the reply comes as bytes. */
type Send = (words: readonly CommandWord[]) => Promise<unknown>;

const digests = new Map<string, Promise<string>>();

/** A node, as resharding talks to it: commands and scripts in bytes, and errors that name the node. */
export class NodeConnection {
  readonly node: ShardNode;
  readonly #map: ShardMap<unknown>;
  #send: Send | undefined;

  constructor(map: ShardMap<unknown>, node: ShardNode) {
    this.#map = map;
    this.node = node;
  }

  get name(): string {
    return this.node.name;
  }

  /**
   * @param operation the name of the operation in error messages
   * @throws StoreError naming the node
   */
  async command(operation: string, ...words: CommandWord[]): Promise<unknown> {
    return this.#guarded(operation, (send) => send(words));
  }

  /** Runs a script. After a timeout, Redis may still run the script. All scripts allow for that. */
  async run(
    operation: string,
    script: string,
    keys: readonly CommandWord[],
    args: readonly CommandWord[] = [],
  ): Promise<unknown[]> {
    const sha = await sha1(script);
    const reply = await this.#guarded(operation, async (send) => {
      try {
        return await send(['EVALSHA', sha, keys.length, ...keys, ...args]);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return send(['EVAL', script, keys.length, ...keys, ...args]);
      }
    });
    return reply as unknown[];
  }

  async #guarded(operation: string, use: (send: Send) => Promise<unknown>): Promise<unknown> {
    try {
      this.#send ??= sender(this.#map.clientOf(this.node));
      return await within(TIMEOUT, use(this.#send));
    } catch (error) {
      throw this.errorOf(operation, error);
    }
  }

  /** The error to throw for an error of a driver. */
  errorOf(operation: string, error: unknown): IdError {
    const sequence = this.#map.sequences[this.node.index];
    if (sequence === undefined || (error instanceof IdError && error.code !== 'STORE'))
      return error as IdError;
    return sequence.runner.errorOf(operation, error);
  }
}

/** The parts of clients of `ioredis` and `redis` that are used here. */
interface BinaryClient {
  callBuffer?(...words: CommandWord[]): Promise<unknown>;
  withTypeMapping?(types: object): { sendCommand(words: (string | Uint8Array)[]): Promise<unknown> };
  readonly options?: { readonly keyPrefix?: string };
}

/** The type of text replies in the package `redis`: their first byte, `$`. */
const BLOB_STRING = 36;

function sender(client: unknown): Send {
  const redis = client as BinaryClient;
  if (redis?.options?.keyPrefix) refuse('keyPrefix', 'empty for resharding', redis.options.keyPrefix);
  if (typeof redis?.callBuffer === 'function')
    return async (words) => redis.callBuffer?.(...words.map(toDriver));
  if (typeof redis?.withTypeMapping === 'function') {
    const inBytes = redis.withTypeMapping({ [BLOB_STRING]: Buffer });
    return async (words) => inBytes.sendCommand(words.map(toDriver));
  }
  return refuse('client', 'a client of the package ioredis or redis', client);
}

/** Turns bytes into a `Buffer`, because drivers take no other bytes. */
function toDriver(word: CommandWord): string | Uint8Array {
  if (typeof word !== 'object') return String(word);
  return Buffer.isBuffer(word) ? word : Buffer.from(word.buffer, word.byteOffset, word.byteLength);
}

function sha1(script: string): Promise<string> {
  const digest =
    digests.get(script) ??
    crypto.subtle
      .digest('SHA-1', new TextEncoder().encode(script))
      .then((bytes) => bytesToHex(new Uint8Array(bytes)));
  digests.set(script, digest);
  return digest;
}

async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  return Promise.race([answer, silence]).finally(() => clearTimeout(timer));
}
