import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** How much text is gathered before it is written. */
const CHUNK = 64 * 1024;

/**
 * Writes lines as fast as the reader takes them. When the reader goes away (`| head -1`) it stops asking for more
 * and returns quietly.
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
    // Also when the source of the lines has failed: what it gave before that counts.
    if (gone === undefined) await flush();
  }
}

/** `{"ids":[…]}` over several lines, so that a large count needs no large memory. */
export async function* jsonIds(
  ids: Iterable<string> | AsyncIterable<string>,
  count: number,
): AsyncIterable<string> {
  yield '{"ids":[';
  let left = count;
  for await (const id of ids) yield JSON.stringify(id) + (--left > 0 ? ',' : '');
  yield ']}';
}

/** Columns for people. */
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
