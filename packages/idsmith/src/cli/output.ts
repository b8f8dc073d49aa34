import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** The number of characters to collect before they are written. */
const CHUNK = 64 * 1024;

/**
 * Writes lines as fast as the reader takes them. Stops without an error when the reader goes away (`| head -1`).
 */
export async function writeLines(
  stream: Writable,
  lines: Iterable<string> | AsyncIterable<string>,
): Promise<void> {
  let gone: Error | undefined;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    gone = error;
  });
  let text = '';
  const flush = async () => {
    if (!stream.write(text)) await once(stream, 'drain').catch(() => undefined);
    text = '';
    if (gone !== undefined && (gone as NodeJS.ErrnoException).code !== 'EPIPE') throw gone;
  };
  try {
    for await (const line of lines) {
      text += `${line}\n`;
      if (text.length >= CHUNK) await flush();
      if (gone !== undefined) return;
    }
  } finally {
    // Also after a failure of the source, so that the lines before it are written.
    if (gone === undefined) await flush();
  }
}

/** JSON of ids, `{"ids":[…]}`, one id a line, so that a large count needs little memory. */
export async function* jsonIds(
  ids: Iterable<string> | AsyncIterable<string>,
  count: number,
): AsyncIterable<string> {
  yield '{"ids":[';
  let left = count;
  for await (const id of ids) yield JSON.stringify(id) + (--left > 0 ? ',' : '');
  yield ']}';
}

/** Lines with aligned columns. */
export function table(header: string[], rows: string[][]): string[] {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
