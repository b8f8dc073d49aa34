import type { SchemaVersion } from 'idsmith';
import { count, duration } from 'idsmith/internal/cli';
import { type BrokenRule, brokenRules, type Finding } from '../audit/rules.js';
import type { Family } from '../families.js';
import type { Call } from '../history/history.js';

/** The figures of a run. */
interface Figures {
  /** The number of ids of each family. */
  readonly ids: Readonly<Partial<Record<Family, number>>>;
  /** The number of faults of each kind. */
  readonly faults: Readonly<Record<string, number>>;
  /** The kinds of faults that did not come: the time was too short. */
  readonly untried: readonly string[];
  /** The number of calls of the store. */
  readonly operations: number;
  /** Of calls without faults, ms. */
  readonly latency: { readonly p50: number; readonly p99: number };
  /** The store's clock minus this machine's, ms; `null` if the store has no clock of its own. */
  readonly clockDifference: number | null;
  /** All processes that minted, also those that were killed. */
  readonly processes: number;
  readonly cases: { readonly passed: number; readonly failed: number };
  readonly seconds: number;
}

/** The result of a run. */
export interface Report {
  readonly verdict: 'passed' | 'failed';
  readonly store: string;
  /** The form of the data in the store; `null` if the store has none. */
  readonly schema: SchemaVersion | null;
  /** Gives the same faults in the same order. */
  readonly seed: number;
  readonly broken: readonly BrokenRule[];
  /** What an operator should change in the settings of the store, whatever rule was broken. */
  readonly hints: readonly string[];
  readonly figures: Figures;
  /** Remarks that are no fault of the store. */
  readonly notes: readonly string[];
  /** Names of the run that are still in the store. */
  readonly left: readonly string[];
}

/** The verdict and the broken rules of findings. */
export function verdictOf(findings: readonly Finding[]): Pick<Report, 'verdict' | 'broken'> {
  const broken = brokenRules(findings);
  return { verdict: broken.length === 0 ? 'passed' : 'failed', broken };
}

/** The median and the 99th percentile of the calls that were answered, ms. */
export function latencyOf(calls: readonly Call[]): { p50: number; p99: number } {
  const times = calls
    .flatMap(({ at, ended, error }) => (ended === undefined || error ? [] : [ended - at]))
    .sort((a, b) => a - b);
  const at = (share: number) => Number((times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(2));
  return { p50: at(0.5), p99: at(0.99) };
}

/** A report as lines for people. */
export function reportLines(report: Report): string[] {
  const { verdict, store, schema, seed, broken, hints, figures, notes, left } = report;
  const { ids, faults, untried, operations, latency, clockDifference, processes, cases, seconds } = figures;
  const list = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .map(([name, number]) => `${count(number)} × ${name}`)
      .join(', ') || 'none';
  const total = Object.values(ids).reduce((sum, number) => sum + number, 0);
  return [
    ...broken.flatMap((rule) => [
      `BROKEN   ${rule.broken}${rule.count > 1 ? ` (${count(rule.count)} times)` : ''}`,
      ...rule.details.map((detail) => `         ${detail}`),
      `look at  ${rule.lookAt}`,
      '',
    ]),
    ...hints.flatMap((hint) => [`hint     ${hint}`, '']),
    `store    ${store}`,
    ...(schema === null ? [] : [`schema   ${schemaText(schema)}`]),
    `cases    ${count(cases.passed)} of ${count(cases.passed + cases.failed)} passed`,
    `ids      ${count(total)}${total > 0 ? `: ${list(ids)}` : ''}, from ${count(processes)} processes`,
    `faults   ${list(faults)}${untried.length > 0 ? `. Not tried, for want of time: ${untried.join(', ')}` : ''}`,
    `calls    ${count(operations)}; without faults p50 ${latency.p50} ms, p99 ${latency.p99} ms`,
    `clock    ${clockText(clockDifference)}`,
    `time     ${duration(seconds)}; the same faults again: --seed ${seed}`,
    ...notes.map((note) => `note     ${note}`),
    ...left.map((name) => `left     ${name}`),
    '',
    verdict === 'passed'
      ? 'PASSED   no rule was broken, and no id came twice'
      : `FAILED   ${failureText(report)}`,
  ];
}

function schemaText({ version, leastReader }: SchemaVersion): string {
  const readers = leastReader < version ? `, also for an idsmith that knows version ${leastReader}` : '';
  return `version ${version}${readers}`;
}

function clockText(difference: number | null): string {
  if (difference === null) return 'the store has no clock of its own to compare';
  if (difference === 0) return "the store's clock and this machine's agree";
  return `the store's clock is ${count(Math.abs(difference))} ms ${difference < 0 ? 'behind' : 'ahead of'} this machine's`;
}

/** One line for standard error. */
export function failureText({ broken, hints }: Pick<Report, 'broken' | 'hints'>): string {
  const rules = `${count(broken.length)} broken: ${broken.map((rule) => rule.broken).join('; ')}`;
  return [rules, ...hints].join('. Hint: ');
}
