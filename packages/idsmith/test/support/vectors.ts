import { readFileSync } from 'node:fs';

/** Data made by running the real upstream programs. */
export function vectors<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), 'utf8')) as T;
}
