import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Given } from './command.js';
import { failureOf, Reported } from './failure.js';
import { padToWidth, textWidth } from './text-width.js';
import { jsonText, visible } from './visible.js';

/** The number of characters to collect before they are written. */
const CHUNK = 64 * 1024;

/** The lines of a command, all at hand or made one by one. */
export type Lines = Iterable<string> | AsyncIterable<string>;

/** Settings of {@link writeLines}. */
export interface WriteOptions {
  /** When this is aborted, its reason is thrown where the source of the lines stands, so that the source can clean up. */
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
    await setImmediate();
    if (gone !== undefined && gone.code !== 'EPIPE') throw gone;
  };
  const source = Symbol.asyncIterator in lines ? lines[Symbol.asyncIterator]() : lines[Symbol.iterator]();
  try {
    for (let isStopped = false; gone === undefined; ) {
      const isStopping: boolean = signal?.aborted === true && !isStopped;
      isStopped ||= isStopping;
      const step = isStopping ? stop(source, signal?.reason) : source.next();
      const { done, value } = step instanceof Promise ? await step : step;
      if (done) return;
      onLine?.();
      text += `${value}\n`;
      if (text.length >= CHUNK) await flush();
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

/** Throws the reason where the source stands. The source may have last lines then. */
function stop(
  source: Iterator<string> | AsyncIterator<string>,
  reason: unknown,
): IteratorResult<string> | Promise<IteratorResult<string>> {
  if (source.throw === undefined) throw reason;
  return source.throw(reason);
}

/** Ids for standard output: one a line, or as JSON with `--json`. */
export function idLines(given: Given, ids: Lines): Lines {
  return given.on('json') ? jsonIds(ids) : ids;
}

/**
 * JSON of ids, `{"ids":[…]}`, one id a line, so that a large count needs little memory. If the ids end with an error, the JSON
 * has the ids before the error, and the error: `{"ids":[…],"error":{"code":…,"message":…}}`.
 */
function jsonIds(ids: Lines): AsyncIterable<string> {
  return jsonList('{"ids":[', ids, (error) => (error === undefined ? ']}' : `],"error":${error}}`));
}

/** JSON of values as one array, one value a line. If the values end with an error, it is the last one: `{"error":…}`. */
export function jsonArray(values: Iterable<unknown> | AsyncIterable<unknown>): AsyncIterable<string> {
  return jsonList('[', values, (error, isEmpty) =>
    error === undefined ? ']' : `${isEmpty ? '' : ','}{"error":${error}}]`,
  );
}

/** @throws Reported with the error of the values, once the JSON is complete */
async function* jsonList(
  begin: string,
  values: Iterable<unknown> | AsyncIterable<unknown>,
  end: (error: string | undefined, isEmpty: boolean) => string,
): AsyncIterable<string> {
  let last: string | undefined;
  yield begin;
  try {
    for await (const value of values) {
      if (last !== undefined) yield `${last},`;
      last = jsonText(value);
    }
  } catch (error) {
    if (last !== undefined) yield last;
    yield end(jsonText(failureOf(error).json), last === undefined);
    throw new Reported(error);
  }
  if (last !== undefined) yield last;
  yield end(undefined, last === undefined);
}

/** Lines with aligned columns. Unseen characters are shown as escapes. */
export function table(header: string[], rows: string[][]): string[] {
  const all = [header, ...rows].map((row) => row.map(visible));
  const widths = header.map((_, column) =>
    all.reduce((widest, row) => Math.max(widest, textWidth(row[column] ?? '')), 0),
  );
  return all.map((row) =>
    row
      .map((cell, i) => padToWidth(cell, widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
