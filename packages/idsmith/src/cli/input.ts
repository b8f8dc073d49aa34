import { isUtf8 } from 'node:buffer';
import { createInterface } from 'node:readline/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { InvalidOptionError } from '../errors.js';
import { type Given, Interrupted, UsageError } from './command.js';

/** The most characters of a line that are kept. No id is so long. */
export const LONGEST_LINE = 4096;

/** More bytes than {@link LONGEST_LINE} characters can have. */
const MOST_BYTES = 4 * LONGEST_LINE;

const NEWLINE = 10;

/** Makes text of bytes. @param line the number of the first line of the bytes */
type TextOf = (bytes: Buffer, line: number) => string;

/**
 * The lines of a stream, without the spaces around them; empty lines are left out. Needs little memory, even for one endless
 * line: a longer line is cut. Bytes that are not UTF-8 become U+FFFD, which no id has.
 *
 * @throws the reason of the signal when it is aborted
 */
export async function* inputLines(stream: Readable, signal: AbortSignal): AsyncIterable<string> {
  for await (const lines of lineBatches(stream, signal, (bytes) => bytes.toString('utf8')))
    for (const line of lines) if (line !== '') yield line;
}

/** The lines of a stream as {@link inputLines} gives them, many at a time, with the empty ones. */
export async function* lineBatches(
  stream: Readable,
  signal: AbortSignal,
  textOf: TextOf,
): AsyncIterable<string[]> {
  let rest = Buffer.alloc(0);
  let isCut = false;
  let number = 1;
  for await (const chunk of chunksOf(stream, signal)) {
    const begin = isCut ? chunk.indexOf(NEWLINE) : 0;
    // The rest of a line that was cut goes on.
    if (begin < 0) continue;
    const end = chunk.lastIndexOf(NEWLINE);
    if (end >= 0) {
      const pieces = textOf(Buffer.concat([rest, chunk.subarray(begin, end)]), number).split('\n');
      const lines = pieces.map((line, i) => (isCut && i === 0 ? firstPart(line) : trimmed(line)));
      number += lines.length;
      yield lines;
      [rest, isCut] = [Buffer.alloc(0), false];
    }
    rest = Buffer.concat([rest, chunk.subarray(end + 1)]);
    if (rest.length <= MOST_BYTES) continue;
    rest = rest.subarray(0, lastCharacter(rest, MOST_BYTES));
    isCut = true;
  }
  if (rest.length === 0) return;
  const text = textOf(rest, number);
  yield [isCut ? firstPart(text) : trimmed(text)];
}

async function* chunksOf(stream: Readable, signal: AbortSignal): AsyncIterable<Buffer> {
  try {
    for await (const chunk of addAbortSignal(signal, stream)) yield Buffer.from(chunk);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/**
 * The text of bytes, for those who compare or use it. Other texts than UTF-8 are refused: all bytes that are not UTF-8 would become one
 * and the same character, and different ids the same id.
 *
 * @param name the source, for messages
 * @param line the number of the first line of the bytes
 * @throws InvalidOptionError naming the first line that is not UTF-8
 */
export function utf8Text(bytes: Buffer, name: string, line = 1): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let number = line;
  for (let begin = 0; ; number++) {
    const end = bytes.indexOf(NEWLINE, begin);
    if (end < 0 || !isUtf8(bytes.subarray(begin, end))) break;
    begin = end + 1;
  }
  throw new InvalidOptionError(
    `${name}, line ${number}: not UTF-8. Convert the text, for example with iconv -f ISO-8859-1 -t UTF-8`,
  );
}

/** The beginning of the character that a cut at `end` would split, or `end`. */
function lastCharacter(bytes: Buffer, end: number): number {
  let at = end;
  // The second and later bytes of a character are 10xxxxxx. A character has at most four.
  while (at > end - 3 && ((bytes[at] as number) & 0xc0) === 0x80) at--;
  return at;
}

/** The kept part of a line. A byte order mark at the beginning of a file counts as a space. */
const trimmed = (line: string) => line.trim().slice(0, LONGEST_LINE);

/** The kept part of a line that was cut: always of the full length, so that nobody takes it for a whole line. */
const firstPart = (line: string) => line.trimStart().padEnd(LONGEST_LINE).slice(0, LONGEST_LINE);

/**
 * Asks the user before something that cannot be undone. `--yes` is the answer of scripts.
 *
 * @throws UsageError where there is nobody to ask
 * @throws Interrupted when the user does not want it
 */
export async function confirm(given: Given, what: string): Promise<void> {
  if (given.on('yes')) return;
  const { stdin, stderr } = given.io;
  if (stdin.isTTY !== true) throw new UsageError(`${what}. To go on, run the command again with --yes`);
  const questions = createInterface({ input: stdin, output: stderr });
  try {
    const answer = await questions.question(`${what}. Go on? [y/N] `, { signal: given.signal });
    if (!/^y(es)?$/i.test(answer.trim())) throw new Interrupted('nothing was done', 1);
  } finally {
    questions.close();
  }
}
