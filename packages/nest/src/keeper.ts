import type { Store } from 'idsmith';
import { connect, type Ids } from 'idsmith/connect';
import { type IdGenerators, type IdsmithConnection, requireConnection } from './options.js';

/** Holds the ids of an application and everything that was opened for it. Nest calls its hook at the end. */
export class IdsKeeper {
  readonly ids: Ids;
  /** The generators and sequences by their names. */
  readonly opened: ReadonlyMap<string, unknown>;
  readonly #isOwner: boolean;

  private constructor(ids: Ids, opened: ReadonlyMap<string, unknown>, isOwner: boolean) {
    this.ids = ids;
    this.opened = opened;
    this.#isOwner = isOwner;
  }

  /** Connects and opens everything. If something fails, nothing stays open. */
  static async open(connection: IdsmithConnection, generators: IdGenerators): Promise<IdsKeeper> {
    const { store, ids: theirs, label } = requireConnection(connection);
    const ids = theirs ?? (await connect(store as string | Store, label === undefined ? {} : { label }));
    try {
      const opened = Object.entries(generators).map(
        async ([name, open]): Promise<[string, unknown]> => [name, await open(ids)],
      );
      return new IdsKeeper(ids, new Map(await Promise.all(opened)), theirs === undefined);
    } catch (error) {
      // The first error is the one to know about. A lease that cannot be released expires.
      if (theirs === undefined) await ids.close().catch(() => undefined);
      throw error;
    }
  }

  /** Closes the ids. Nest has closed the server by then, so that requests under way could still mint. */
  async onApplicationShutdown(): Promise<void> {
    if (this.#isOwner) await this.ids.close();
  }
}
