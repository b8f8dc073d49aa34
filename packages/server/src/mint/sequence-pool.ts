import { type Sequence, SequenceExhaustedError, type SequenceInfo, type Sequences } from 'idsmith';
import { invalidRequest } from '../http/problem.js';
import { MAX_COUNT } from '../http/schemas.js';
import type { LabelledCount } from '../ops/counter.js';
import type { Log } from '../ops/log.js';
import type { Metrics } from '../ops/metrics.js';
import { numbersJson } from './id-json.js';

/** A count that grows. */
interface Count {
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

/** The time in which the end of a sequence is logged once, ms. */
const LOG_INTERVAL = 60_000;

/** The most sequences whose refusals are logged apart. */
const MAX_LOGGED = 1000;

/** Refused requests for ids of sequences. A sequence at its end is an outage of whoever needs its ids, so the log tells of it. */
class SequenceRefusals {
  readonly #metrics: Metrics;
  readonly #log: Log;
  readonly #logged = new Map<string, { at: number; since: number }>();

  constructor(metrics: Metrics, log: Log) {
    this.#metrics = metrics;
    this.#log = log;
  }

  add(name: string, error: unknown): void {
    const { code } = (error ?? {}) as { code?: unknown };
    // The names of sequences that do not exist are anybody's.
    if (typeof code !== 'string' || code === 'NO_SUCH_SEQUENCE') return;
    this.#metrics.sequenceRefusals.add(1, name, code);
    if (code !== 'SEQUENCE_EXHAUSTED') return;
    const now = performance.now();
    const last = this.#logged.get(name);
    if (last !== undefined && now - last.at < LOG_INTERVAL) {
      last.since++;
      return;
    }
    const [oldest] = this.#logged.keys();
    if (this.#logged.size >= MAX_LOGGED) this.#logged.delete(oldest as string);
    this.#logged.set(name, { at: now, since: 0 });
    this.#log.warn('sequence exhausted', {
      sequence: name,
      message: (error as Error).message,
      ...(last !== undefined && { andBefore: last.since }),
    });
  }
}

/** The most times that one request opens its sequence. */
const MAX_TRIES = 5;

interface OpenSequence {
  readonly sequence: Sequence;
  readonly minted: LabelledCount;
  readonly handedOut: Count;
}

/** The sequences that requests have drawn from. They stay open, with their blocks, from one request to the next. */
export class SequencePool {
  readonly #sequences: Sequences;
  readonly #metrics: Metrics;
  readonly #refusals: SequenceRefusals;
  /** The ids of each sequence that were handed out. */
  readonly handedOut = new HandedOut();
  readonly #open = new Map<string, OpenSequence>();

  constructor(sequences: Sequences, metrics: Metrics, log: Log) {
    this.#sequences = sequences;
    this.#metrics = metrics;
    this.#refusals = new SequenceRefusals(metrics, log);
  }

  /** Counts a refusal, and logs that a sequence is exhausted. */
  refused(name: string, error: unknown): void {
    this.#refusals.add(name, error);
  }

  /**
   * Draws ids, as JSON text. Ids that are at hand come without a promise.
   *
   * @throws NoSuchSequenceError, SequenceExhaustedError or StoreError when there are not enough ids; none is lost then
   */
  next(name: string, count: number): string | Promise<string> {
    const open = this.#open.get(name);
    const text = open && (count === 1 ? oneAtHand(open.sequence) : manyAtHand(open.sequence, count));
    if (text === undefined) return this.#batch(name, count);
    open!.minted.count += count;
    open!.handedOut.count += count;
    return text;
  }

  /**
   * Draws ids that are not negative, as JSON text. A sequence that could give negative ids is refused before an id is drawn.
   *
   * @throws RequestProblem 422 for such a sequence; other errors as {@link next} does
   */
  async nextNatural(name: string, count: number): Promise<string> {
    const lowest = lowestOf(await this.#sequences.describe(name));
    if (lowest >= 0n) return this.next(name, count);
    throw invalidRequest(
      `public: sequence ${JSON.stringify(name)} can go down to ${lowest}, and short public ids hold no negative numbers; ` +
        'use a prefix that is not short, or alter the sequence: min "0"',
    );
  }

  async #batch(name: string, count: number): Promise<string> {
    for (let tries = 1; ; tries++) {
      const open = this.#open.get(name) ?? (await this.#openSequence(name));
      try {
        const ids = await open.sequence.batch(count);
        open.minted.count += count;
        open.handedOut.count += count;
        return `{"ids":["${ids.join('","')}"]}`;
      } catch (error) {
        const { code } = (error ?? {}) as { code?: unknown };
        this.refused(name, error);
        if (code === 'NO_SUCH_SEQUENCE') await this.forgetSequence(name);
        if (code === 'SEQUENCE_EXHAUSTED') throw exhausted(open.sequence, count, error);
        // Another request may have altered the sequence, and closed it here, while this one waited.
        if ((code !== 'INVALID_OPTION' && code !== 'CLOSED') || tries === MAX_TRIES) throw error;
        if (this.#open.get(name) === open) this.#open.delete(name);
      }
    }
  }

  async #openSequence(name: string): Promise<OpenSequence> {
    const sequence = await this.#sequences.get(name);
    const minted = this.#metrics.minted.of('sequence', name);
    const open = { sequence, minted, handedOut: this.handedOut.of(name) };
    this.#open.set(name, open);
    return open;
  }

  /** Closes a sequence and returns its unused ids to the store. The next request opens it as the store then has it. */
  async closeSequence(name: string): Promise<void> {
    const open = this.#open.get(name);
    this.#open.delete(name);
    await open?.sequence.close();
  }

  /** Closes a sequence that was removed, and forgets what was handed out of it. */
  async forgetSequence(name: string): Promise<void> {
    await this.closeSequence(name);
    this.handedOut.forget(name);
  }

  /**
   * Closes all sequences and returns their unused ids to the store.
   *
   * @returns the names of the sequences that are not closed yet, and the promise of the end
   */
  closeAll(): { names: readonly string[]; ended: Promise<unknown> } {
    const names = [...this.#open.keys()];
    const closing = [...this.#open].map(async ([name, { sequence }]) => {
      await sequence.close();
      names.splice(names.indexOf(name), 1);
    });
    this.#open.clear();
    return { names, ended: Promise.allSettled([...closing, this.#sequences.close()]) };
  }
}

/** The error of a sequence at its end. The ids that are still at hand are fewer than were asked for, and smaller requests get them. */
function exhausted(sequence: Sequence, count: number, cause: unknown): unknown {
  const { name, available } = sequence.status();
  if (available === 0 || available >= count) return cause;
  return new SequenceExhaustedError(
    `sequence ${JSON.stringify(name)} is near its end: ${available} ids are at hand, fewer than count=${count}; ask for ${available} at most. ${(cause as Error).message}`,
    { cause },
  );
}

/** The lowest id that a sequence can give. An ascending one never goes below its start, unless it begins again at its minimum. */
function lowestOf({ start, next, step, min, cycle }: SequenceInfo): bigint {
  return step > 0 && !cycle ? (start ?? next) : min;
}

function oneAtHand(sequence: Sequence): string | undefined {
  const id = sequence.take();
  return id === undefined ? undefined : `{"ids":["${id}"]}`;
}

const numbers = new Float64Array(MAX_COUNT);

/** Takes `count` ids that are at hand. Gives `undefined`, and takes none, if there are not enough. */
function manyAtHand(sequence: Sequence, count: number): string | Promise<string> | undefined {
  const { available, wanted } = sequence.status();
  if (wanted > 0 || available < count) return undefined;
  let taken = 0;
  try {
    for (let id = sequence.takeNumber(); id !== undefined; id = sequence.takeNumber()) {
      numbers[taken++] = id;
      if (taken === count) return numbersJson(numbers, count);
    }
  } catch (error) {
    // Past 2^53, ids are no numbers. The id stays at hand.
    if ((error as { code?: unknown })?.code !== 'UNSAFE_INTEGER') throw error;
  }
  const first = Array.from(numbers.subarray(0, taken), BigInt);
  return sequence.batch(count - taken).then((others) => `{"ids":["${[...first, ...others].join('","')}"]}`);
}
