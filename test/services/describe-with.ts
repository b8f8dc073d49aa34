import { describe } from 'vitest';
import { obtain, type ServiceName } from './binaries.ts';

const printed = new Set<string>();

/** Prints a line, once in this process. */
export function printOnce(line: string): void {
  if (!printed.has(line)) console.warn(line);
  printed.add(line);
}

/**
 * A `describe` for tests that need services. Where one is missing and cannot be installed, the tests are
 * skipped and one line says how to get it; under `CI=true` that is an error instead.
 *
 * To be awaited at the top of the test file: `await describeWith(['redis'], 'The …', () => { … })`.
 *
 * @param options of `describe`, such as `concurrent` for suites that wait more than they work
 */
export async function describeWith(
  services: readonly ServiceName[],
  title: string,
  body: () => void,
  options: { concurrent?: boolean } = {},
): Promise<void> {
  for (const service of services) {
    const outcome = await obtain(service);
    if (outcome.action === 'run') continue;
    if (outcome.action === 'fail') throw new Error(outcome.line);
    printOnce(outcome.line);
    describe.skip(title, body);
    return;
  }
  describe(title, options, body);
}
