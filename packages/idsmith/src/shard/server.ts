import { bytesToHex } from '../encoding/hex.js';
import { IdError, StoreError } from '../errors.js';
import { refuse } from '../options.js';
import type { IoredisClient, NodeRedisClient } from '../stores/redis.js';
import { type Clients, nodeError } from './client.js';
import type { ShardNode, ShardSettings } from './config.js';

/** A script for Redis, called by its hash once a server knows it. */
export class Script {
  readonly text: string;
  #sha: Promise<string> | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get sha(): Promise<string> {
    this.#sha ??= crypto.subtle
      .digest('SHA-1', new TextEncoder().encode(this.text))
      .then((digest) => bytesToHex(new Uint8Array(digest)));
    return this.#sha;
  }
}

type Send = (kind: 'sha' | 'text', script: string, key: string, args: string[]) => Promise<unknown>;

/** The Redis of a node: runs scripts there, and tells what goes wrong by the node's name. */
export class ShardServer<Client = unknown> {
  readonly node: ShardNode;
  readonly #clients: Clients<Client>;
  readonly #settings: ShardSettings;
  #send: Send | undefined;

  constructor(node: ShardNode, clients: Clients<Client>, settings: ShardSettings) {
    this.node = node;
    this.#clients = clients;
    this.#settings = settings;
  }

  get client(): Client {
    return this.#clients.of(this.node);
  }

  /**
   * Runs a script on the sequence of this node.
   *
   * @throws StoreError naming the node
   */
  async run(what: string, script: Script, ...args: (string | number)[]): Promise<unknown[]> {
    const { seqname, timeout } = this.#settings;
    try {
      await this.#clients.load();
      this.#send ??= sender(this.client);
      const reply = await within(timeout, evaluate(this.#send, script, seqname, args.map(String)));
      return reply as unknown[];
    } catch (error) {
      throw this.failure(what, error);
    }
  }

  /** The error of ours for what a driver has thrown: a `StoreError` naming the node. */
  failure(what: string, error: unknown): IdError {
    // A client of ours has named its command, which is not what the user called.
    const reason = error instanceof StoreError && error.cause instanceof Error ? error.cause : error;
    return reason instanceof IdError ? reason : nodeError(this.node, what, reason, this.#settings);
  }
}

async function evaluate(send: Send, script: Script, key: string, args: string[]): Promise<unknown> {
  try {
    return await send('sha', await script.sha, key, args);
  } catch (error) {
    // Nothing was run: the server has started, or its scripts were flushed, since it last saw this one.
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return send('text', script.text, key, args);
  }
}

function sender(client: unknown): Send {
  const has = (method: string) => typeof (client as Record<string, unknown>)?.[method] === 'function';
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
  return refuse('a client', 'one of the package ioredis or redis', client);
}

/** Fails when there is no answer in time. The script may still be run later: its keys are then nobody's. */
async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  return Promise.race([answer, silence]).finally(() => clearTimeout(timer));
}
