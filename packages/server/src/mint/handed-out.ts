/** A count that grows. */
export interface Count {
  count: number;
}

/** The number of ids of each sequence that this server has handed out, one by one or in runs of blocks, since its start. */
export class HandedOut {
  /** The start of the server, Unix ms. */
  readonly since = Date.now();
  readonly #counts = new Map<string, Count>();

  /** The count of a sequence, to add to. */
  of(name: string): Count {
    const known = this.#counts.get(name);
    if (known !== undefined) return known;
    const fresh = { count: 0 };
    this.#counts.set(name, fresh);
    return fresh;
  }

  read(name: string): number {
    return this.#counts.get(name)?.count ?? 0;
  }

  /** Forgets a sequence that was removed. */
  forget(name: string): void {
    this.#counts.delete(name);
  }
}
