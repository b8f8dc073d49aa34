import { bytesToHex } from '../encoding/hex.js';
import type { IdError } from '../errors.js';
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
