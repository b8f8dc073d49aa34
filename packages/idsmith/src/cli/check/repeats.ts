import { HashSet, hashOf } from './hash-set.js';
import { type IdFile, type IdLine, isCut } from './id-file.js';
import { sameText } from './origin.js';

/** The most ids in memory at a time. More ids take more passes over the file. */
const IDS_PER_PASS = 2 ** 24;

/** The most repeated ids that are told apart. */
const MOST_REPEATED = 100_000;

/** The most lines that are told of one id. */
const MOST_LINES = 20;

/** An id that is in the file more than once. */
export interface Repeat {
  /** The id as it is first written. */
  readonly id: string;
  count: number;
  /** The first lines with the id. */
  readonly lines: number[];
}

/** All repeats of a file. */
export interface Repeats {
  readonly list: Repeat[];
  /** False if there are more repeated ids than the list has. */
  readonly isComplete: boolean;
}

/** Settings for tests. */
interface RepeatOptions {
  readonly idsPerPass?: number;
  /** A whole number from 1 to 2^53 − 1 for a text. */
  readonly hash?: (text: string) => number;
}

/**
 * Finds every id that is in the file more than once, exactly. The first passes remember 53 bits of each id, and find the ids that may be
 * repeated. The last pass compares those by their text.
 *
 * @param ids the number of ids in the file
 */
export async function findRepeats(
  file: IdFile,
  ids: number,
  { idsPerPass = IDS_PER_PASS, hash: hashOfText = hashOf }: RepeatOptions = {},
): Promise<Repeats> {
  const passes = Math.max(1, Math.ceil(ids / idsPerPass));
  const suspects = new Set<number>();
  for (let pass = 0; pass < passes; pass++) {
    const seen = new HashSet(Math.ceil(ids / passes));
    await forEachId(file, (_line, text) => {
      const hash = hashOfText(text);
      if (hash % passes === pass && !seen.add(hash) && suspects.size <= MOST_REPEATED) suspects.add(hash);
    });
  }
  if (suspects.size === 0) return { list: [], isComplete: true };
  const found = new Map<string, Repeat>();
  await forEachId(file, (line, text) => {
    if (!suspects.has(hashOfText(text))) return;
    const repeat = found.get(text) ?? { id: line.text, count: 0, lines: [] };
    repeat.count++;
    if (repeat.lines.length < MOST_LINES) repeat.lines.push(line.number);
    found.set(text, repeat);
  });
  const list = [...found.values()].filter(({ count }) => count > 1);
  return { list, isComplete: suspects.size <= MOST_REPEATED };
}

async function forEachId(file: IdFile, fn: (line: IdLine, text: string) => void): Promise<void> {
  for await (const lines of file.read())
    for (const line of lines) if (!isCut(line)) fn(line, sameText(line.text));
}
