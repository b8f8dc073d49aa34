import type { Store } from '../../stores/store.js';
import { leaseStoreCases } from '../../testing/lease-cases.js';
import { sequenceStoreCases } from '../../testing/sequence-cases.js';
import type { Finding, Rule } from './rules.js';

/** The rule behind a case, by words of its name. The first that fits counts. */
const RULE_OF: readonly [RegExp, Rule][] = [
  [/digit|exact/, 'exact'],
  [/clock/, 'clock'],
  [
    /is not (put|replaced)|not there|at once|while many|many allocate|given out twice|not defined twice|taken back/,
    'compared',
  ],
  [/comes back|as expected|is listed|are listed|its own page|has the records/, 'kept'],
];

/** How the suites went. */
export interface Conformance {
  readonly passed: number;
  readonly failed: number;
  readonly findings: readonly Finding[];
}

/**
 * Runs the suites of `idsmith/testing`, a few cases at a time.
 *
 * @param base the beginning of all names
 * @param onCase called after each case with the share of cases that are done
 */
export async function conform(
  store: Store,
  base: string,
  onCase: (share: number) => void,
  signal: AbortSignal,
): Promise<Conformance> {
  let number = 0;
  const options = { name: () => `${base}case-${number++}` };
  const cases = [...leaseStoreCases(() => store, options), ...sequenceStoreCases(() => store, options)];
  const findings: Finding[] = [];
  let done = 0;
  const runSome = async (): Promise<void> => {
    for (let next = cases.shift(); next !== undefined && !signal.aborted; next = cases.shift()) {
      const { name } = next;
      await next.run().catch((error: unknown) => void findings.push(findingOf(name, error)));
      done++;
      onCase(done / (done + cases.length));
    }
  };
  await Promise.all(Array.from({ length: 4 }, runSome));
  signal.throwIfAborted();
  return { passed: done - findings.length, failed: findings.length, findings };
}

function findingOf(name: string, error: unknown): Finding {
  const message = error instanceof Error ? error.message : String(error);
  // A store that fails has shown nothing of its behaviour.
  const isFailure = (error as { code?: unknown })?.code === 'STORE' || message.includes('"code":"STORE"');
  const [, rule] = RULE_OF.find(([words]) => words.test(name)) ?? [undefined, 'behaviour' as const];
  return { rule: isFailure ? 'service' : rule, detail: `"${name}": ${message}` };
}
