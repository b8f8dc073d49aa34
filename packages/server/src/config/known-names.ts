import { InvalidOptionError } from 'idsmith';

/**
 * Refuses names that an object may not have.
 *
 * @param what names the object in messages: `'the settings'`, `'options'`
 * @throws InvalidOptionError naming the unknown name, the nearest known one and all of them
 */
export function requireKnown(what: string, given: object, known: readonly string[]): void {
  for (const name of Object.keys(given))
    if (!known.includes(name)) throw new InvalidOptionError(`${what}: ${unknownName(name, known)}`);
}

/** A sentence about a name that is not known. */
export function unknownName(name: string, known: readonly string[]): string {
  const nearest = nearestOf(name, known);
  const hint = nearest === undefined ? '' : `; did you mean ${JSON.stringify(nearest)}?`;
  return `unknown name ${JSON.stringify(name.slice(0, 60))}${hint} (known: ${known.join(', ')})`;
}

/** The known name that a third of its letters at most, or one, make of `name`. */
function nearestOf(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, errors: typingErrors(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.errors - b.errors);
  return best && best.errors <= Math.max(1, best.candidate.length / 3) ? best.candidate : undefined;
}

/** How many letters to add, drop, change or swap with their neighbour. */
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
