import { describe } from 'vitest';
import { obtain, type ServiceName } from './binaries.ts';

/**
 * A `describe` for tests that need services. Where one is missing and cannot be installed, the tests are
 * skipped and one line says how to get it; under `CI=true` that is an error instead.
 *
 * To be awaited at the top of the test file: `await describeWith(['redis'], 'The …', () => { … })`.
 */
export async function describeWith(
  services: readonly ServiceName[],
  title: string,
  body: () => void,
): Promise<void> {
  for (const service of services) {
    const decision = await obtain(service);
    if (decision.action === 'run') continue;
    const line = 'line' in decision ? decision.line : `${service} could not be installed`;
    if (decision.action === 'fail') throw new Error(line);
    console.warn(line);
    describe.skip(title, body);
    return;
  }
  describe(title, body);
}
