import { requireKnown } from '../options.js';

/** One behaviour that a store must have, for any test framework. */
export interface ConformanceCase {
  readonly name: string;
  /** Rejects when the store does not have the behaviour. */
  run(): Promise<void>;
}

/** Options of the conformance suites. */
export interface ConformanceOptions {
  /** Gives the name of the namespace or sequence of each case, another one each time. Some cases add a few characters to it. */
  readonly name?: () => string;
}

/** Throws an error that shows both values when they differ. */
export function equal(actual: unknown, expected: unknown): void {
  const [shown, wanted] = [actual, expected].map((value) => JSON.stringify(value, comparable));
  if (shown !== wanted) throw new Error(`expected ${wanted}, got ${shown}`);
}

/** Throws unless the promise rejects with an error of this code. */
export async function refused(promise: Promise<unknown>, code: string): Promise<void> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ code: (error as { code?: unknown })?.code, error: String(error) }),
  );
  if (!('code' in outcome) || outcome.code !== code)
    throw new Error(`expected an error ${code}, got ${JSON.stringify(outcome, comparable)}`);
}

function comparable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** @throws InvalidOptionError when an option is unknown */
export function namesOf(options: ConformanceOptions): () => string {
  const { name = () => `conformance ${crypto.randomUUID()}` } = requireKnown('options', options, ['name']);
  return name;
}
