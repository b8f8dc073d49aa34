import {
  abridged,
  allIds,
  disorder,
  duplicates,
  type Ledger,
  readLedger,
  sharedMoments,
  wrongTimes,
} from './check.ts';
import type { Crew } from './crew.ts';

/** What came of a run. */
export interface ChaosReport {
  readonly store: string;
  readonly seed: number;
  readonly ids: number;
  /** How many of them are locality UUIDs. */
  readonly localityIds: number;
  readonly processes: number;
  /** How often each fault was there. */
  readonly faults: Readonly<Record<string, number>>;
  /** How often processes told of each event. */
  readonly events: Readonly<Record<string, number>>;
  /** How long after the last fault service had resumed, ms. */
  readonly recoveryMs: number | undefined;
  /** Empty is what every run wants. */
  readonly problems: readonly string[];
  /** Where the processes' ids and logs are, if there were problems. */
  readonly folder?: string;
}

/** What is wrong with all that the processes of an ended run have handed out, and how much that is. */
export function examineIds(
  crew: Crew,
  begin: number,
  hasClock: boolean,
): { ids: number; localityIds: number; problems: string[] } {
  const ledgers = crew.everyone.map((minter) => readLedger(minter.name, minter.family, minter.ids()));
  const problems = [duplicates(ledgers), sharedMoments(ledgers), disorder(ledgers)];
  if (hasClock) problems.push(wrongTimes(ledgers, begin, Date.now()), unrefused(crew));
  const locality = ledgers.filter(({ family }) => family === 'locality');
  return { ids: count(ledgers), localityIds: count(locality), problems: problems.flatMap(abridged) };
}

function count(ledgers: readonly Ledger[]): number {
  let ids = 0;
  for (const _ of allIds(ledgers)) ids++;
  return ids;
}

/** Processes whose clock was wrong all the time, and who minted or were not told why they could not. */
function unrefused(crew: Crew): string[] {
  return crew.misfits
    .filter((minter) => minter.hasIds || !minter.events().some(({ code }) => code === 'CLOCK'))
    .map(({ name }) => `${name} was not refused for its wrong clock`);
}

export function countEvents(crew: Crew): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { event, code } of crew.everyone.flatMap((minter) => minter.events())) {
    const kind = event === 'refused' ? `refused ${code}` : event;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** A report as lines for people. */
export function showReport(report: ChaosReport): string {
  const list = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .map(([kind, count]) => `${count} × ${kind}`)
      .join(', ');
  const { store, seed, ids, localityIds, processes, recoveryMs, problems, folder } = report;
  const resumed =
    recoveryMs === undefined ? 'service did not resume' : `service resumed after ${recoveryMs} ms`;
  return [
    `${store}, seed ${seed}: ${ids} ids, ${localityIds} of them locality UUIDs, by ${processes} processes, ${resumed}`,
    `  faults: ${list(report.faults)}`,
    `  events: ${list(report.events)}`,
    ...problems.map((problem) => `  PROBLEM ${problem}`),
    ...(folder === undefined ? [] : [`  ids and logs are kept in ${folder}`]),
  ].join('\n');
}
