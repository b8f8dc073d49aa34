import { bytesToHex } from '../../encoding/hex.js';
import { IdError } from '../../errors.js';
import { refuse } from '../../options.js';
import type { ShardNode } from '../config.js';
import type { ShardMap } from '../shard-map.js';

/** How long a node may take to answer one command of ours, ms: a large value takes its time. */
const TIMEOUT = 30_000;

/** What a command may be made of. Keys and values are bytes, whatever they are. */
export type Word = string | number | Uint8Array;

/** Sends one command and gives its reply, text as bytes. */
type Send = (words: readonly Word[]) => Promise<unknown>;

const digests = new Map<string, Promise<string>>();

/** A node as resharding talks to it: in bytes, with scripts, and with errors that name the node. */
export class Wire {
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
   * @param what it is done for, for the error
   * @throws StoreError naming the node
   */
  async command(what: string, ...words: Word[]): Promise<unknown> {
    return this.#guarded(what, (send) => send(words));
  }

  /** Runs a script. One that is not answered in time may still be run later, which all of them allow for. */
  async run(
    what: string,
    script: string,
    keys: readonly Word[],
    args: readonly Word[] = [],
  ): Promise<unknown[]> {
    const sha = await sha1(script);
    const reply = await this.#guarded(what, async (send) => {
      try {
        return await send(['EVALSHA', sha, keys.length, ...keys, ...args]);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return send(['EVAL', script, keys.length, ...keys, ...args]);
      }
    });
    return reply as unknown[];
  }

  async #guarded(what: string, use: (send: Send) => Promise<unknown>): Promise<unknown> {
    try {
      this.#send ??= sender(this.#map.clientOf(this.node));
      return await within(TIMEOUT, use(this.#send));
    } catch (error) {
      throw this.failure(what, error);
    }
  }

  /** The error of ours for what a driver has thrown. */
  failure(what: string, error: unknown): IdError {
    const mark = this.#map.marks[this.node.index];
    if (mark === undefined || (error instanceof IdError && error.code !== 'STORE')) return error as IdError;
    return mark.server.failure(what, error);
  }
}

/** What is needed of `ioredis` and of `redis` here. */
interface Clientlike {
  callBuffer?(...words: Word[]): Promise<unknown>;
  withTypeMapping?(types: object): { sendCommand(words: (string | Uint8Array)[]): Promise<unknown> };
  readonly options?: { readonly keyPrefix?: string };
}

/** How `redis` names replies that are text: by their first byte, `$`. */
const BLOB_STRING = 36;

function sender(client: unknown): Send {
  const redis = client as Clientlike;
  if (redis?.options?.keyPrefix) refuse('keyPrefix', 'empty for resharding', redis.options.keyPrefix);
  if (typeof redis?.callBuffer === 'function')
    return async (words) => redis.callBuffer?.(...words.map(toDriver));
  if (typeof redis?.withTypeMapping === 'function') {
    const inBytes = redis.withTypeMapping({ [BLOB_STRING]: Buffer });
    return async (words) => inBytes.sendCommand(words.map(toDriver));
  }
  return refuse('a client', 'one of the package ioredis or redis', client);
}

/** Drivers take bytes as a `Buffer` only. */
function toDriver(word: Word): string | Uint8Array {
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
