import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setImmediate as onIdle } from 'node:timers';
import { setImmediate as idle } from 'node:timers/promises';
import { JsonLines, type Lines } from './json-lines.js';
import { padToWidth, textWidth } from './text-width.js';
import { visible } from './visible.js';

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
