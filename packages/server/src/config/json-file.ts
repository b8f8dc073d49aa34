import { readFileSync } from 'node:fs';
import { InvalidOptionError } from 'idsmith';

/**
 * Reads a file that holds one JSON object.
 *
 * @throws InvalidOptionError naming the file if it cannot be read or holds something else
 */
export function readJson(path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new InvalidOptionError(`${path} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new InvalidOptionError(`${path} must hold a JSON object`);
}

/** The message of an error, except for errors of JSON.parse: those quote the text, which may hold a password. */
function reasonOf(error: unknown): string {
  return error instanceof SyntaxError ? 'the text is not valid JSON' : String((error as Error).message);
}
