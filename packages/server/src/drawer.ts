import { type Sequence, type SequenceStore, Sequences } from 'idsmith';
import type { Metrics } from './metrics.js';

/** How often a sequence is opened again for one request. */
const MAX_TRIES = 5;

/** Draws from sequences, which stay open from one request to the next. */
export class Drawer {
  readonly #sequences: Sequences;
  readonly #metrics: Metrics;
  readonly #open = new Map<string, Sequence>();

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
    const id = count === 1 ? this.#open.get(name)?.take() : undefined;
    if (id === undefined) return this.#batch(name, count);
    this.#metrics.minted.add(1, 'sequence', name);
    return `{"ids":["${id}"]}`;
  }

  async #batch(name: string, count: number): Promise<string> {
    for (let tries = 1; ; tries++) {
      const sequence = this.#open.get(name) ?? (await this.#openOne(name));
      try {
        const ids = await sequence.batch(count);
        this.#metrics.minted.add(count, 'sequence', name);
        return `{"ids":["${ids.join('","')}"]}`;
      } catch (error) {
        const { code } = (error ?? {}) as { code?: unknown };
        if (code === 'NO_SUCH_SEQUENCE') await this.forget(name);
        // It may have been closed while this waited, because somebody has altered it.
        if (code !== 'INVALID_OPTION' || tries === MAX_TRIES) throw error;
        if (this.#open.get(name) === sequence) this.#open.delete(name);
      }
    }
  }

  async #openOne(name: string): Promise<Sequence> {
    const sequence = await this.#sequences.get(name);
    this.#open.set(name, sequence);
    return sequence;
  }

  /** Gives back what is at hand of a sequence, so that it goes on as the store has it. */
  async forget(name: string): Promise<void> {
    const sequence = this.#open.get(name);
    this.#open.delete(name);
    await sequence?.close();
  }

  /** Gives back all that is at hand. */
  async close(): Promise<void> {
    this.#open.clear();
    await this.#sequences.close();
  }
}
