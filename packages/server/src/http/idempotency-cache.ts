import type { ServerResponse } from 'node:http';
import type { Metrics } from '../ops/metrics.js';
import { invalid } from './problem.js';

/** How long an answer is remembered, ms; how many are, and how many characters in all. */
const LIFETIME = 120_000;
const MAX_ANSWERS = 10_000;
const MAX_SIZE = 16 * 2 ** 20;

/** A request that carries an `Idempotency-Key`. */
export interface Repeatable {
  /** The key, together with whose it is. */
  readonly key: string;
  /** All that makes it this request: a key is good for one. */
  readonly fingerprint: string;
  /** The path of its route, for the metrics. */
  readonly path: string;
  /** Whether its sender has sent it before. */
  readonly isRepeat: boolean;
}

interface Memory extends Repeatable {
  readonly answer: Promise<string>;
  readonly expires: number;
  size: number;
  /** Whether all of the answer was handed to a connection that was open. */
  isDelivered: boolean;
}

/**
 * Remembers answers, so that a request whose answer was lost gets the same one when it comes again. Nothing is shared with
 * other servers: there the request is answered anew, and what the first answer held is given up.
 */
export class Replays {
  readonly #metrics: Metrics;
  readonly #memories = new Map<string, Memory>();
  #size = 0;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** The answer to a request: the one it had before, or what `work` gives. A failure is not remembered. */
  async answer(request: Repeatable, response: ServerResponse, work: () => Promise<string>): Promise<string> {
    const known = this.#memories.get(request.key);
    if (known !== undefined && known.expires > performance.now()) {
      if (known.fingerprint !== request.fingerprint)
        throw invalid('this Idempotency-Key was used for another request');
      this.#metrics.repeats.add(1, 'replayed');
      this.#follow(known, response);
      return known.answer;
    }
    if (request.isRepeat) this.#metrics.repeats.add(1, 'anew');
    const memory = this.#remember(request, work());
    this.#follow(memory, response);
    try {
      const answer = await memory.answer;
      memory.size += answer.length;
      if (this.#memories.get(request.key) === memory) this.#size += answer.length;
      return answer;
    } catch (error) {
      this.#forget(memory);
      throw error;
    } finally {
      this.sweep();
    }
  }

  /** Forgets what is too old or too much. */
  sweep(): void {
    const now = performance.now();
    for (const memory of this.#memories.values()) {
      const isFull = this.#memories.size > MAX_ANSWERS || this.#size > MAX_SIZE;
      if (!isFull && memory.expires > now) return;
      this.#forget(memory);
      if (!memory.isDelivered && memory.path.endsWith('/blocks')) this.#metrics.givenUp.add(1);
    }
  }

  #remember(request: Repeatable, answer: Promise<string>): Memory {
    const size = request.key.length + request.fingerprint.length;
    const memory = { ...request, answer, expires: performance.now() + LIFETIME, size, isDelivered: false };
    const before = this.#memories.get(request.key);
    if (before !== undefined) this.#forget(before);
    this.#memories.set(request.key, memory);
    this.#size += size;
    return memory;
  }

  #forget(memory: Memory): void {
    if (this.#memories.get(memory.key) !== memory) return;
    this.#memories.delete(memory.key);
    this.#size -= memory.size;
  }

  /** Notes whether the answer left the house. That it was read nobody can know. */
  #follow(memory: Memory, response: ServerResponse): void {
    response.once('close', () => {
      if (response.writableFinished) memory.isDelivered = true;
      else this.#metrics.undelivered.add(1, memory.path);
    });
  }
}
