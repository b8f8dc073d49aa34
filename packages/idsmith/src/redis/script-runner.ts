import { bytesToHex } from '../encoding/hex.js';
import { IdError, StoreError } from '../errors.js';
import { reasonOf, storeReason } from '../support/store-error.js';
import { withTimeout } from '../support/timeout.js';
import type { CommandPart, ScriptClient } from './client.js';

/** Settings of a {@link ScriptRunner}. */
export interface ScriptRunnerOptions {
  /** The longest time that Redis may take to answer, ms. */
  readonly timeout: number;
  /** Turns an error of a driver into the error to throw. */
  readonly errorOf: (operation: string, error: unknown) => IdError;
}

/** Runs Lua scripts on one Redis, with either driver. */
export class ScriptRunner<Client extends ScriptClient = ScriptClient> {
  readonly #client: Client;
  readonly #options: ScriptRunnerOptions;

  constructor(client: Client, options: ScriptRunnerOptions) {
    this.#client = client;
    this.#options = options;
  }

  /**
   * Runs a script. After a timeout, Redis may still run the script. All scripts allow for that.
   *
   * @param operation the name of the operation in error messages
   */
  async run(
    operation: string,
    script: string,
    keys: readonly CommandPart[],
    args: readonly CommandPart[] = [],
  ): Promise<unknown> {
    return this.use(operation, async (client) => {
      try {
        return await client.evaluate('EVALSHA', await sha1(script), keys, args);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        // Redis ran nothing. The server has started since it last saw this script, or its scripts were flushed.
        return client.evaluate('EVAL', script, keys, args);
      }
    });
  }

  /** Uses the client for something else, with the same timeout and the same errors. */
  async use<T>(operation: string, work: (client: Client) => Promise<T>): Promise<T> {
    try {
      return await withTimeout(work(this.#client), this.#options.timeout);
    } catch (error) {
      throw this.#options.errorOf(operation, error);
    }
  }
}

/** The digests of scripts, which are computed once. */
const digests = new Map<string, Promise<string>>();

function sha1(script: string): Promise<string> {
  const digest = digests.get(script) ?? digestOf(script);
  digests.set(script, digest);
  return digest;
}

async function digestOf(text: string): Promise<string> {
  return bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text))));
}

/**
 * The `StoreError` for an error of a driver. An error of this library stays as it is.
 *
 * The `cause` is a copy with the message and the code, because the driver's own error holds the password after a failed login.
 *
 * @param subject the Redis in the message: `redis store` or `node 127.0.0.1:6379`
 * @param password a secret that the message must not show
 */
export function redisError(subject: string, operation: string, error: unknown, password?: string): IdError {
  if (error instanceof IdError) return error;
  const { code } = (error ?? {}) as { code?: unknown };
  const reason = reasonOf(error, password);
  const cause = Object.assign(new Error(reason), typeof code === 'string' && { code });
  return new StoreError(`${subject}: ${operation} failed: ${reason}`, { cause, reason: storeReason(error) });
}
