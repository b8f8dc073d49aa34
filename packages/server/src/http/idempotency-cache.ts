import type { ServerResponse } from 'node:http';
import type { Metrics } from '../ops/metrics.js';
import { invalidRequest } from './problem.js';

/** The time for which a response is kept, ms. */
const LIFETIME = 120_000;

/** The most responses that are kept. */
const MAX_ENTRIES = 10_000;

/** The most characters of all responses that are kept. */
const MAX_SIZE = 16 * 2 ** 20;

/** A request that carries an `Idempotency-Key`. */
export interface IdempotentRequest {
  /** The key together with the id of its token: clients cannot read each other's responses. */
  readonly key: string;
  /** Method, URL and body of the request. A key is valid for one fingerprint. */
  readonly fingerprint: string;
  /** The path of the route, for the metrics. */
  readonly path: string;
  /** True if the client says that it sends the request again. */
  readonly isRepeat: boolean;
}

interface Entry extends IdempotentRequest {
  readonly text: Promise<string>;
  readonly expires: number;
  size: number;
  /** True once the whole response was written to an open connection. */
  isDelivered: boolean;
}

/**
 * Keeps responses by their `Idempotency-Key`, so that a client whose response was lost gets the same one again. Servers do not
 * share their caches: another server handles a repeated request as a new one, and the ids of the first response become a gap.
 */
export class IdempotencyCache {
  readonly #metrics: Metrics;
  readonly #entries = new Map<string, Entry>();
  #size = 0;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** Returns the kept response of this request, or the result of `work`. A failure is not kept. */
  async respond(
    request: IdempotentRequest,
    response: ServerResponse,
    work: () => Promise<string>,
  ): Promise<string> {
    const known = this.#entries.get(request.key);
    if (known !== undefined && known.expires > performance.now()) {
      if (known.fingerprint !== request.fingerprint)
        throw invalidRequest('this Idempotency-Key was used for another request');
      this.#metrics.repeats.add(1, 'replayed');
      this.#recordDelivery(known, response);
      return known.text;
    }
    if (request.isRepeat) this.#metrics.repeats.add(1, 'anew');
    const entry = this.#add(request, work());
    this.#recordDelivery(entry, response);
    try {
      const text = await entry.text;
      entry.size += text.length;
      if (this.#entries.get(request.key) === entry) this.#size += text.length;
      return text;
    } catch (error) {
      this.#remove(entry);
      throw error;
    } finally {
      this.sweep();
    }
  }

  /** Removes expired entries, and the oldest entries while there are too many. */
  sweep(): void {
    const now = performance.now();
    for (const entry of this.#entries.values()) {
      const isFull = this.#entries.size > MAX_ENTRIES || this.#size > MAX_SIZE;
      if (!isFull && entry.expires > now) return;
      this.#remove(entry);
      if (!entry.isDelivered && entry.path.endsWith('/blocks')) this.#metrics.givenUp.add(1);
    }
  }

  #add(request: IdempotentRequest, text: Promise<string>): Entry {
    const size = request.key.length + request.fingerprint.length;
    const entry = { ...request, text, expires: performance.now() + LIFETIME, size, isDelivered: false };
    const before = this.#entries.get(request.key);
    if (before !== undefined) this.#remove(before);
    this.#entries.set(request.key, entry);
    this.#size += size;
    return entry;
  }

  #remove(entry: Entry): void {
    if (this.#entries.get(entry.key) !== entry) return;
    this.#entries.delete(entry.key);
    this.#size -= entry.size;
  }

  /** Records whether the response was fully written. The server cannot know whether the client has read it. */
  #recordDelivery(entry: Entry, response: ServerResponse): void {
    response.once('close', () => {
      if (response.writableFinished) entry.isDelivered = true;
      else this.#metrics.undelivered.add(1, entry.path);
    });
  }
}
