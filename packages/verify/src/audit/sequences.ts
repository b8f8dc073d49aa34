import type { Call } from '../history/history.js';
import type { Finding } from './rules.js';

/** Ids from `from` up to, not including, `to`. */
interface Run {
  from: bigint;
  to: bigint;
  readonly call: Call;
}

/**
 * What the blocks of a sequence say against its store. Blocks never overlap, except where a process gave the end of its block back.
 *
 * @param quiet true if no fault was at work and one after another allocated: then blocks follow each other without a gap
 */
export function auditBlocks(calls: readonly Call[], quiet: boolean): Finding[] {
  return [...groupBy(calls.filter(isAllocation), nameOf)].flatMap(([name, allocations]) => {
    const runs = allocations.map(runOf);
    for (const { args } of calls.filter((call) => call.name === 'giveBack' && nameOf(call) === name))
      cutTail(runs, args[1]);
    runs.sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
    return [...overlaps(runs), ...(quiet ? gaps(runs) : []), ...lowEnds(calls, name, runs)].slice(0, 3);
  });
}

const isAllocation = ({ name, ended, error }: Call) =>
  name === 'allocate' && ended !== undefined && error === undefined;
const nameOf = ({ args }: Call) => String(args[0]);

function runOf(call: Call): Run {
  const { first, count } = call.result as { first: bigint | string; count: number };
  return { from: BigInt(first), to: BigInt(first) + BigInt(count), call };
}

/** Takes the end off the block that a process gave back, also when no answer came: the process does not use it any more. */
function cutTail(runs: readonly Run[], given: unknown): void {
  const { first, count } = given as { first: bigint | string; count: number };
  const [from, to] = [BigInt(first), BigInt(first) + BigInt(count)];
  // A run may be several blocks that the process has joined.
  for (const run of runs) {
    if (run.to > from && run.to <= to && run.from < to) run.to = run.from > from ? run.from : from;
  }
}

function overlaps(runs: readonly Run[]): Finding[] {
  const found: Finding[] = [];
  let before: Run | undefined;
  for (const run of runs.filter(({ from, to }) => from < to)) {
    if (before !== undefined && run.from < before.to) {
      const [one, other] = before.call.at < run.call.at ? [before, run] : [run, before];
      // Two that asked at the same time: the store does not add in one step. One after the other: the first was forgotten.
      const rule = (one.call.ended as number) < other.call.at ? 'kept' : 'compared';
      found.push({
        rule,
        detail: `ids ${text(one)} were given to ${one.call.by}, and then ids ${text(other)} to ${other.call.by}`,
      });
    }
    if (before === undefined || run.to > before.to) before = run;
  }
  return found;
}

function gaps(runs: readonly Run[]): Finding[] {
  return runs.flatMap((run, i) => {
    const before = runs[i - 1];
    if (before === undefined || run.from <= before.to) return [];
    const detail = `ids ${before.to} to ${run.from - 1n} of a sequence were taken, and nobody had asked for them`;
    return [{ rule: 'once' as const, detail }];
  });
}

/** Descriptions of the sequence that lie before ids which somebody had got when the question was asked. */
function lowEnds(calls: readonly Call[], name: string, runs: readonly Run[]): Finding[] {
  return calls
    .filter((call) => call.name === 'describeSequence' && nameOf(call) === name && call.result !== undefined)
    .flatMap(({ at, by, result }): Finding[] => {
      const next = BigInt((result as { next: bigint | string }).next);
      const past = runs.find(({ call, from, to }) => from < to && to > next && (call.ended as number) < at);
      if (past === undefined) return [];
      const detail = `ids ${text(past)} were given to ${past.call.by}, and later the store told ${by} that ${next} comes next`;
      return [{ rule: 'kept', detail }];
    });
}

const text = ({ from, to }: Run) => `${from} to ${to - 1n}`;

function groupBy<T>(things: readonly T[], keyOf: (thing: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const thing of things) {
    const group = groups.get(keyOf(thing)) ?? [];
    groups.set(keyOf(thing), group);
    group.push(thing);
  }
  return groups;
}
