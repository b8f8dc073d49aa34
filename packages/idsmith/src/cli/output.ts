import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setImmediate as onIdle } from 'node:timers';
import { setImmediate as idle } from 'node:timers/promises';
import { type Given, NegativeVerdict } from './command.js';
import { failureOf, UnfinishedJson } from './failure.js';
import { jsonText } from './text.js';

/** The lines of a command, all at hand or made one by one. */
export type Lines = Iterable<string> | AsyncIterable<string>;

/** The number of characters to collect before they are written. */
const CHUNK = 64 * 1024;

/** Settings of {@link writeLines}. */
export interface WriteOptions {
  /** When this is aborted, the source of the lines is closed, and the reason is thrown. */
  readonly signal?: AbortSignal;
  /** Called for each line. */
  readonly onLine?: () => void;
}

/**
 * Writes lines as fast as the reader takes them. Stops without an error when the reader goes away (`| head -1`).
 *
 * @throws the error of the source, after the lines before it were written
 */
export async function writeLines(stream: Writable, lines: Lines, options: WriteOptions = {}): Promise<void> {
  const { signal, onLine } = options;
  let gone: NodeJS.ErrnoException | undefined;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    gone = error;
  });
  let text = '';
  const flush = async () => {
    if (!stream.write(text)) await once(stream, 'drain').catch(() => undefined);
    text = '';
    // Lets signals in, also where the stream never waits.
    await idle();
    if (gone !== undefined && gone.code !== 'EPIPE') throw gone;
  };
  let isDue = false;
  /** Writes what there is as soon as the source waits for something, unless the reader is behind. */
  const flushWhenIdle = () => {
    if (isDue) return;
    isDue = true;
    onIdle(() => {
      isDue = false;
      if (text === '' || stream.writableNeedDrain) return;
      stream.write(text);
      text = '';
    });
  };
  const source = Symbol.asyncIterator in lines ? lines[Symbol.asyncIterator]() : lines[Symbol.iterator]();
  try {
    while (gone === undefined) {
      if (signal?.aborted) {
        const failure = (await failureOfClosing(source)) ?? signal.reason;
        throw lines instanceof JsonLines ? lines.stoppedBy(failure) : failure;
      }
      const step = source.next();
      const { done, value } = step instanceof Promise ? await step : step;
      if (done) return;
      onLine?.();
      text += `${value}\n`;
      if (text.length >= CHUNK) await flush();
      else flushWhenIdle();
    }
  } finally {
    try {
      await source.return?.();
    } finally {
      // Also after a failure of the source, so that the lines before it are written.
      if (gone === undefined) await flush();
    }
  }
}

/** Closes the source, which then releases what it holds. Gives the error if that fails. */
async function failureOfClosing(source: Iterator<string> | AsyncIterator<string>): Promise<unknown> {
  try {
    await source.return?.();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Mints `count` ids in batches. A lease is renewed between two of them. */
export async function* inBatches(
  count: number,
  mint: (count: number) => Iterable<string | bigint>,
): AsyncIterable<string> {
  for (let left = count; left > 0; left -= 1000) {
    for (const id of mint(Math.min(left, 1000))) yield String(id);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The text around the values of a list. */
interface Frame {
  readonly begin: string;
  readonly end: string;
  /** The end after an error, which is given as JSON. */
  endWith(error: string, isEmpty: boolean): string;
}

const IDS: Frame = { begin: '{"ids":[', end: ']}', endWith: (error) => `],"error":${error}}` };

const ARRAY: Frame = {
  begin: '[',
  end: ']',
  endWith: (error, isEmpty) => `${isEmpty ? '' : ','}{"error":${error}}]`,
};

/** JSON of a list that is written value by value, so that a long list needs little memory. Valid JSON, even if the list fails. */
class JsonLines implements AsyncIterable<string> {
  readonly #values: Iterable<unknown> | AsyncIterable<unknown>;
  readonly #frame: Frame;
  #state: 'new' | 'empty' | 'filled' | 'complete' = 'new';

  constructor(values: Iterable<unknown> | AsyncIterable<unknown>, frame: Frame) {
    this.#values = values;
    this.#frame = frame;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<string> {
    this.#state = 'empty';
    yield this.#frame.begin;
    let verdict: NegativeVerdict | undefined;
    try {
      for await (const value of this.#values) {
        // The comma comes first, so that all lines so far and an end are valid JSON at any time.
        const comma = this.#state === 'empty' ? '' : ',';
        this.#state = 'filled';
        yield comma + jsonText(value);
      }
    } catch (error) {
      if (!(error instanceof NegativeVerdict)) throw this.stoppedBy(error);
      verdict = error;
    }
    this.#state = 'complete';
    yield this.#frame.end;
    if (verdict !== undefined) throw verdict;
  }

  /** The error to throw when the list ends after the lines so far: an {@link UnfinishedJson}, if something was written. */
  stoppedBy(error: unknown): unknown {
    if (this.#state === 'new' || this.#state === 'complete') return error;
    const end = this.#frame.endWith(jsonText(failureOf(error).json), this.#state === 'empty');
    return new UnfinishedJson(error, end);
  }
}

/**
 * Ids for standard output: one a line, or with `--json` as `{"ids":[…]}`. If the ids end with an error, the JSON has the ids
 * before it and the error: `{"ids":[…],"error":{"code":…,"message":…}}`.
 */
export function idLines(given: Given, ids: Lines): Lines {
  return given.on('json') ? new JsonLines(ids, IDS) : ids;
}

/** JSON of values as one array. If the values end with an error, the error is the last element: `{"error":…}`. */
export function jsonArray(values: Iterable<unknown> | AsyncIterable<unknown>): Lines {
  return new JsonLines(values, ARRAY);
}
