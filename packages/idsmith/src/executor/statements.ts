import type { SqlDialect } from './port.js';

/** Tells whether a statement gives rows. Some drivers have one method for these, and another one for all others. */
export function givesRows(text: string): boolean {
  return /^\s*(SELECT|WITH|VALUES|SHOW|PRAGMA\s+\w+\s*$)|\bRETURNING\b/i.test(text);
}

/** The placeholders of both notations, and the quotes and comments that may hold something like them. */
const PARTS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\/\*[\s\S]*?\*\/|--[^\n]*|\$(\d+)|\?/g;

/**
 * A statement with other placeholders.
 *
 * @param place gives the placeholder of the n-th value, n from 1
 * @param quoted writes a quote, a comment or an operator, so that nothing in it is taken for a placeholder
 */
export function withPlaceholders(
  text: string,
  dialect: SqlDialect,
  place: (n: number) => string,
  quoted: (part: string) => string,
): string {
  let count = 0;
  return text.replace(PARTS, (part, n?: string) => {
    if (dialect === 'postgres') return n === undefined ? quoted(part) : place(Number(n));
    return part === '?' ? place(++count) : quoted(part);
  });
}
