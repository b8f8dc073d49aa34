import { siteLine } from './figures.ts';
import type { IdArchive } from './id-archive.ts';
import type { Site } from './site.ts';

/** What came of a run. */
export interface SoakReport {
  readonly ids: number;
  readonly faults: number;
  readonly duplicates: number;
  /** Empty is what every run wants. */
  readonly problems: readonly string[];
}

/**
 * Prints a line about each store, each problem and the whole run.
 *
 * @param silent who did not begin or resume
 */
export function verdict(
  sites: readonly Site[],
  archive: IdArchive,
  silent: readonly string[],
  print: (line: string) => void,
): SoakReport {
  const accidents = sites.flatMap((site) => site.accidents.map((line) => `${site.name}: ${line}`));
  const problems = [...archive.problems, ...silent, ...accidents];
  for (const site of sites) print(siteLine(site));
  for (const problem of problems) print(`PROBLEM ${problem}`);
  const ids = sites.reduce((sum, { total }) => sum + total, 0);
  const faults = sites.reduce((sum, site) => sum + [...site.faults.values()].reduce((a, b) => a + b, 0), 0);
  const { duplicates, sharedMoments } = archive;
  print(
    `${problems.length === 0 ? 'PASSED' : 'FAILED'}: ${ids} ids, ${faults} faults, ${duplicates} duplicates, ` +
      `${sharedMoments} moments of a node id used by two processes, ${silent.length} families silent, ` +
      `${accidents.length} processes ended by themselves`,
  );
  return { ids, faults, duplicates, problems };
}
