import { InvalidOptionError } from 'idsmith';

/**
 * Refuses an object with an unknown property name.
 *
 * @param what the object's name in messages: `'the settings'`, `'options'`
 * @throws InvalidOptionError with the unknown name, the nearest known name and all known names
 */
export function requireKnown(what: string, given: object, known: readonly string[]): void {
  for (const name of Object.keys(given))
    if (!known.includes(name)) throw new InvalidOptionError(`${what}: ${unknownName(name, known)}`);
}

/** The message for an unknown name. */
export function unknownName(name: string, known: readonly string[]): string {
  return `unknown name ${JSON.stringify(name.slice(0, 60))}${knownNames(name, known)}`;
}

/** The end of a message about an unknown name: the nearest known name, and all known names. */
export function knownNames(name: string, known: readonly string[]): string {
  const nearest = nearestOf(name, known);
  const hint = nearest === undefined ? '' : `; did you mean ${JSON.stringify(nearest)}?`;
  return `${hint} (known: ${known.join(', ')})`;
}

/** The known name closest to `name`, if at most one letter or a third of the letters differ. */
function nearestOf(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, errors: typingErrors(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.errors - b.errors);
  return best && best.errors <= Math.max(1, best.candidate.length / 3) ? best.candidate : undefined;
}

/** The number of letters to add, drop, change or swap with a neighbour: the Damerau–Levenshtein distance. */
function typingErrors(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1];
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const ways = [row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (isSame ? 0 : 1)];
      next.push(Math.min(...ways, isSwap ? before[j - 2]! + 1 : Number.POSITIVE_INFINITY));
    }
    [before, row] = [row, next];
  }
  return row[to.length]!;
}
