import type { Ids } from 'idsmith/connect';
import { idsOf } from 'idsmith/internal/plugins';
import { type IdGenerators, type IdsmithConnection, requireGivenConnection } from './options.js';

/** Holds the ids of an application and everything that was opened for it. Nest calls its hook at the end. */
export class IdsKeeper {
  readonly ids: Ids;
  /** The generators and sequences by their names. */
  readonly opened: ReadonlyMap<string, unknown>;
  readonly #close: () => Promise<void>;

  private constructor(ids: Ids, opened: ReadonlyMap<string, unknown>, close: () => Promise<void>) {
    this.ids = ids;
    this.opened = opened;
    this.#close = close;
  }

  /** Connects and opens everything. If something fails, nothing stays open. */
  static async open(connection: IdsmithConnection, generators: IdGenerators): Promise<IdsKeeper> {
    requireGivenConnection(connection);
    const [ids, close] = await idsOf(connection);
    try {
      const opened = Object.entries(generators).map(
        async ([name, open]): Promise<[string, unknown]> => [name, await open(ids)],
      );
      return new IdsKeeper(ids, new Map(await Promise.all(opened)), close);
    } catch (error) {
      // The first error is the one to know about. A lease that cannot be released expires.
      await close().catch(() => undefined);
      throw error;
    }
  }

  /** Closes the ids. Nest has closed the server by then, so that requests under way could still mint. */
  onApplicationShutdown(): Promise<void> {
    return this.#close();
  }
}
