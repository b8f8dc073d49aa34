import { type Sequence, type SequenceStore, Sequences } from 'idsmith';
import type { Metrics, Series } from '../ops/metrics.js';

/** How often a sequence is opened again for one request. */
const MAX_TRIES = 5;

/** Draws from sequences, which stay open from one request to the next. */
export class Drawer {
  readonly #sequences: Sequences;
  readonly #metrics: Metrics;
  readonly #open = new Map<string, { sequence: Sequence; minted: Series }>();

  constructor(store: SequenceStore, metrics: Metrics) {
    this.#sequences = new Sequences(store);
    this.#metrics = metrics;
  }

  /**
   * Ids as JSON: at once if they are at hand.
   *
   * @throws NoSuchSequenceError, SequenceExhaustedError or StoreError when they are not to be had; none is lost then
   */
  draw(name: string, count: number): string | Promise<string> {
    const open = count === 1 ? this.#open.get(name) : undefined;
    const id = open?.sequence.take();
    if (id === undefined) return this.#batch(name, count);
    open!.minted.count++;
    return `{"ids":["${id}"]}`;
  }

  async #batch(name: string, count: number): Promise<string> {
    for (let tries = 1; ; tries++) {
      const open = this.#open.get(name) ?? (await this.#openOne(name));
      try {
        const ids = await open.sequence.batch(count);
        open.minted.count += count;
        return `{"ids":["${ids.join('","')}"]}`;
      } catch (error) {
        const { code } = (error ?? {}) as { code?: unknown };
        if (code === 'NO_SUCH_SEQUENCE') await this.forget(name);
        // It may have been closed while this waited, because somebody has altered it.
        if ((code !== 'INVALID_OPTION' && code !== 'CLOSED') || tries === MAX_TRIES) throw error;
        if (this.#open.get(name) === open) this.#open.delete(name);
      }
    }
  }

  async #openOne(name: string): Promise<{ sequence: Sequence; minted: Series }> {
    const sequence = await this.#sequences.get(name);
    const open = { sequence, minted: this.#metrics.minted.of('sequence', name) };
    this.#open.set(name, open);
    return open;
  }

  /** Gives back what is at hand of a sequence, so that it goes on as the store has it. */
  async forget(name: string): Promise<void> {
    const open = this.#open.get(name);
    this.#open.delete(name);
    await open?.sequence.close();
  }

  /** Gives back all that is at hand. */
  async close(): Promise<void> {
    this.#open.clear();
    await this.#sequences.close();
  }
}
