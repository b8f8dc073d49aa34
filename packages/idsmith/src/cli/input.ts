import { addAbortSignal, type Readable } from 'node:stream';

/** The most characters of a line that are kept. No id is so long. */
export const LONGEST_LINE = 4096;

/**
 * The lines of a stream, without the spaces around them; empty lines are left out. Needs little memory, also for one endless
 * line: a longer line is cut.
 *
 * @throws the reason of the signal when it is aborted
 */
export async function* inputLines(stream: Readable, signal: AbortSignal): AsyncIterable<string> {
  for await (const lines of lineBatches(stream, signal))
    for (const line of lines) if (line !== '') yield line;
}

/** The lines of a stream as {@link inputLines} gives them, many at a time, with the empty ones. */
export async function* lineBatches(stream: Readable, signal: AbortSignal): AsyncIterable<string[]> {
  let rest = '';
  for await (const chunk of chunksOf(stream, signal)) {
    const pieces = (rest + chunk).split('\n');
    rest = (pieces.pop() as string).slice(0, LONGEST_LINE);
    yield pieces.map(trimmed);
  }
  if (rest !== '') yield [trimmed(rest)];
}

async function* chunksOf(stream: Readable, signal: AbortSignal): AsyncIterable<string> {
  try {
    yield* addAbortSignal(signal, stream).setEncoding('utf8');
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** The kept part of a line. A byte order mark at the beginning of a file counts as a space. */
const trimmed = (line: string) => line.slice(0, LONGEST_LINE).trim();
