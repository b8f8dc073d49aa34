import type { Readable } from 'node:stream';

/** The most characters of a line that are kept. No id is so long. */
const LONGEST = 4096;

/**
 * The lines of a stream, without the spaces around them; empty lines are left out. Needs little memory, also for one endless
 * line: a longer line is cut.
 */
export async function* inputLines(stream: Readable): AsyncIterable<string> {
  stream.setEncoding('utf8');
  let rest = '';
  for await (const chunk of stream) {
    const pieces = `${chunk}`.split('\n');
    pieces[0] = rest + pieces[0];
    rest = (pieces.pop() as string).slice(0, LONGEST);
    for (const piece of pieces) {
      const line = trimmed(piece);
      if (line !== '') yield line;
    }
  }
  const last = trimmed(rest);
  if (last !== '') yield last;
}

/** A byte order mark at the beginning of a file counts as a space. */
const trimmed = (line: string) => line.slice(0, LONGEST).trim();
