import { execFileSync } from 'node:child_process';
import type { IdArchive } from './id-archive.ts';
import type { Site } from './site.ts';

const number = (value: number) => value.toLocaleString('en-GB');
const megabytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MB`;
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);

/** The resident memory of the largest of these processes, bytes. */
function largestMemory(pids: readonly number[]): number {
  if (pids.length === 0) return 0;
  try {
    const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', pids.join(',')], { encoding: 'utf8' });
    return 1024 * Math.max(0, ...kilobytes.trim().split(/\s+/).map(Number));
  } catch {
    // All of them have ended.
    return 0;
  }
}

/**
 * The figures of a run so far, in one line.
 *
 * @param heldUpMs the longest time in the minute in which this process, with its proxies, did not get to run
 */
export function figuresLine(
  elapsedMs: number,
  sites: readonly Site[],
  archive: IdArchive,
  heldUpMs: number,
): string {
  const workers = largestMemory(sites.flatMap(({ pids }) => pids));
  return [
    `minute ${(elapsedMs / 60_000).toFixed(1)}: ${number(sum(sites.map(({ total }) => total)))} ids`,
    `${number(sum(sites.map(({ waits }) => waits)))} waits (longest ${seconds(longest(sites))})`,
    `${number(sum(sites.flatMap(({ faults }) => [...faults.values()])))} faults`,
    `memory ${megabytes(process.memoryUsage.rss())} (largest process ${megabytes(workers)})`,
    `held up ${seconds(heldUpMs)}`,
    `${number(archive.duplicates)} duplicates`,
  ].join(', ');
}

/** A line about what came of a store. */
export function siteLine({ name, ids, waits, longestWait, faults }: Site): string {
  const families = [...ids].map(([family, count]) => `${number(count)} ${family}`).join(', ');
  const befallen = [...faults].map(([fault, count]) => `${count} × ${fault}`).join(', ');
  return `${name}: ${families}; ${waits} waits (longest ${seconds(longestWait)}); ${befallen}`;
}

function longest(sites: readonly Site[]): number {
  return Math.max(0, ...sites.map(({ longestWait }) => longestWait));
}
