import type { SchemaVersion } from 'idsmith';
import { count, duration } from 'idsmith/internal/cli';
import type { Family } from '../families.js';
import type { Call } from '../history/history.js';

/** The promises that a store must keep. Each has a text for operators. */
const RULES = {
  unique: {
    broken: 'an id came twice',
    lookAt: 'stop minting with this store. The other broken rules of this run, if any, name the reason',
  },
  kept: {
    broken: 'the store forgot a change that it had confirmed, and went back to an older state',
    lookAt:
      'a failover to an asynchronous replica, a backup that was restored, a server that confirms before it writes to disk ' +
      '(synchronous_commit, fsync, innodb_flush_log_at_trx_commit, appendfsync), a cache before the store',
  },
  present: {
    broken: 'a record that the store had confirmed is gone',
    lookAt:
      'eviction (on Redis: maxmemory-policy noeviction), an expiry of keys or rows, a job that deletes old data, a store that restarted empty',
  },
  compared: {
    broken: 'the store replaced a record that was no longer the expected one',
    lookAt:
      'writes to more than one primary, weak isolation, a cache or a proxy that answers for the store, a store of your own ' +
      'whose swap does not compare and write in one atomic step',
  },
  fresh: {
    broken: 'a read returned an older state than the one that the store had confirmed before',
    lookAt: 'read replicas, a cache, eventually consistent reads: the URL must lead to the primary server',
  },
  exact: {
    broken: 'a number came back changed',
    lookAt:
      'the types of columns (BIGINT, not DOUBLE or FLOAT), settings of the driver for large numbers, a proxy that parses JSON numbers',
  },
  once: {
    broken: 'a request was carried out twice, or its answer was the opposite of what happened',
    lookAt: 'proxies, load balancers and drivers that send a request again: switch their retries off',
  },
  clock: {
    broken: "the store's clock and the clock of this machine disagree",
    lookAt: 'NTP on both machines. On a store of several servers, the clock of each of them',
  },
  behaviour: {
    broken: 'the store does not behave as every store must',
    lookAt:
      'docs/stores.md, the section of this store. For a store of your own, run the suites of idsmith/testing',
  },
  service: {
    broken: 'processes could not mint',
    lookAt: 'the messages above, the rights of the user in the URL, and the log of the store',
  },
} as const;

export type Rule = keyof typeof RULES;

/** One way in which a rule was broken. */
export interface Finding {
  readonly rule: Rule;
  /** What happened, with values and moments. */
  readonly detail: string;
}

/** A broken rule, for people. */
interface BrokenRule {
  readonly rule: Rule;
  /** The rule that was broken, in words. */
  readonly broken: string;
  readonly lookAt: string;
  /** The number of findings. */
  readonly count: number;
  /** The first few findings. */
  readonly details: readonly string[];
}

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

/** The most findings of a rule that are shown. */
const SHOWN = 3;

/** The findings by rule, the worst rule first. */
function brokenRules(findings: readonly Finding[]): BrokenRule[] {
  return (Object.keys(RULES) as Rule[]).flatMap((rule) => {
    const details = findings.filter((finding) => finding.rule === rule).map(({ detail }) => detail);
    return details.length === 0
      ? []
      : [{ rule, ...RULES[rule], count: details.length, details: details.slice(0, SHOWN) }];
  });
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
