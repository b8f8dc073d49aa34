import { createHash } from 'node:crypto';
import type { LeaseRecord } from 'idsmith';
import { STORE_NAMESPACE } from 'idsmith/internal/stores';
import { type Family, idText, originOf } from '../families.js';
import type { Call, History, IdRecord } from '../history/history.js';
import type { Finding } from '../report/report.js';

// Judges a store by the history of a run: by the calls that it has answered (leases, blocks, the readings of its clock), and by the ids
// that processes have minted with it.

/** A run, as far as its audit depends on it. */
interface RunFacts {
  readonly families: readonly Family[];
  /** The times at which processes began to mint and had ended, Unix ms. */
  readonly begin: number;
  readonly end: number;
  /** True if the store has a clock, and so can tell a wrong one. */
  readonly hasClock: boolean;
  /** True if the store may write another record than it was given, as a server does. */
  readonly guarded: boolean;
}

/** What is wrong with everything that processes did and minted under faults. */
export function auditHistory({ calls, ids, unexpected }: History, run: RunFacts): Finding[] {
  const { families, begin, end, hasClock, guarded } = run;
  const counts = countIds(ids, families);
  return [
    ...auditIds(ids).findings,
    ...(hasClock ? [...wrongTimes(ids, begin, end), ...auditReadings(calls)] : []),
    ...auditLeases(calls, { quiet: false, guarded }),
    ...auditBlocks(calls, false),
    ...unexpected.map((detail): Finding => ({ rule: ruleOf(detail), detail })),
    ...families
      .filter((family) => counts[family] === 0)
      .map((family): Finding => ({ rule: 'service', detail: `no process got an id of ${family}` })),
  ];
}

/** The rule behind an error that no process should meet. */
const ruleOf = (error: string) => (error.includes('NO_SUCH_SEQUENCE') ? 'present' : 'service');

// Leases, whatever clocks said. The record of a node id only moves forward: terms grow, and within a term the fence grows until the
// release. So every state has a rank. Once a state was confirmed, by the answer to a swap or to a read, no later call may see a lower
// rank.

/** A state of a node id that a call has seen: `undefined` if there was no record. */
type State = LeaseRecord | undefined;

interface Sight {
  readonly call: Call;
  readonly state: State;
}

/** One node id of a namespace: the calls that saw it, and those that changed it. */
interface NodeCalls {
  readonly id: number;
  /** What calls found: a read its record, a swap that was done its expected record. */
  readonly seen: Sight[];
  /** What answers confirmed: a read its record, a swap that was done its new record. */
  readonly confirmed: Sight[];
  /** Every record that anybody has tried to write. */
  readonly written: LeaseRecord[];
  readonly swaps: Swap[];
}

interface Swap {
  readonly call: Call;
  readonly expected: State;
  readonly next: LeaseRecord;
}

/**
 * What the answers of a store say against it, at most one finding for a node id: what follows is a consequence.
 *
 * @param options.quiet true if no fault was at work, so that every request was sent once
 * @param options.guarded true if the store may write another record than it was given, as a server does
 */
export function auditLeases(
  calls: readonly Call[],
  options: { quiet: boolean; guarded: boolean },
): Finding[] {
  return [...nodesOf(calls).values()].flatMap((node) => {
    const found = [
      ...(options.guarded ? [] : altered(node)),
      ...lowered(node),
      ...forked(node),
      ...(options.quiet ? contradicted(node) : []),
    ];
    return found.sort((a, b) => a.at - b.at).slice(0, 1);
  });
}

interface Timed extends Finding {
  readonly at: number;
}

function nodesOf(calls: readonly Call[]): Map<string, NodeCalls> {
  const nodes = new Map<string, NodeCalls>();
  const nodeOf = (namespace: unknown, id: number) => {
    const key = `${id} ${namespace}`;
    const node = nodes.get(key) ?? { id, seen: [], confirmed: [], written: [], swaps: [] };
    nodes.set(key, node);
    return node;
  };
  // The store's own record is older than the run.
  const ofRun = calls.filter(({ args }) => args[0] !== STORE_NAMESPACE);
  for (const call of ofRun.filter(({ name }) => name === 'swapLease' || name === 'claimLease')) {
    const [namespace, given, next] = call.args as [string, State | null, LeaseRecord];
    const expected = given ?? undefined;
    const node = nodeOf(namespace, next.id);
    node.written.push(next);
    node.swaps.push({ call, expected, next });
    if (call.result !== true) continue;
    node.seen.push({ call, state: expected });
    node.confirmed.push({ call, state: next });
  }
  // After the swaps: a read tells something of every node id that was ever written.
  for (const call of ofRun.filter(({ name }) => name === 'listLeases' || name === 'readLeases')) {
    if (call.ended === undefined || call.error !== undefined) continue;
    const [namespace, first = 0, count = Number.POSITIVE_INFINITY] = call.args as [string, number?, number?];
    const records = call.result as LeaseRecord[];
    for (const record of records) nodeOf(namespace, record.id);
    for (const [key, node] of nodes) {
      const isInScope = node.id < 0 || (node.id >= first && node.id < first + count);
      if (key !== `${node.id} ${namespace}` || !isInScope) continue;
      const state = records.find(({ id }) => id === node.id);
      node.seen.push({ call, state });
      if (state) node.confirmed.push({ call, state });
    }
  }
  return nodes;
}

/** The first state that is lower than one that was confirmed before the call began. */
function lowered({ id, seen, confirmed }: NodeCalls): Timed[] {
  const answers = confirmed.toSorted((a, b) => (a.call.ended as number) - (b.call.ended as number));
  let highest: Sight | undefined;
  let next = 0;
  for (const sight of seen.toSorted((a, b) => a.call.at - b.call.at)) {
    for (; next < answers.length && (answers[next]?.call.ended as number) < sight.call.at; next++) {
      const answer = answers[next] as Sight;
      if (highest === undefined || isLower(highest.state, answer.state)) highest = answer;
    }
    if (highest === undefined || !isLower(sight.state, highest.state)) continue;
    const isSwap = sight.call.result === true;
    const rule = isSwap
      ? 'compared'
      : isBackLater(seen, sight, highest)
        ? 'fresh'
        : sight.state
          ? 'kept'
          : 'present';
    return [{ rule, at: sight.call.at, detail: story(id, highest, sight, isSwap) }];
  }
  return [];
}

/** Tells whether the store shows the confirmed state again, and nobody has built on the older one before. */
function isBackLater(seen: readonly Sight[], { call }: Sight, highest: Sight): boolean {
  const later = seen
    .filter((sight) => sight.call.at > (call.ended as number))
    .sort((a, b) => a.call.at - b.call.at)
    .find((sight) => sight.call.result === true || !isLower(sight.state, highest.state));
  return later !== undefined && !isLower(later.state, highest.state);
}

function story(id: number, before: Sight, after: Sight, isSwap: boolean): string {
  const later = Math.max(0, after.call.at - (before.call.ended as number));
  const what = isSwap ? 'confirmed a swap that expected' : 'showed';
  return (
    `${nodeText(id)}: the store had confirmed ${shown(before.state)} to ${before.call.by}. ` +
    `${later.toFixed(0)} ms later it ${what} ${shown(after.state)} (${after.call.by}, ${after.call.name})`
  );
}

/** Swaps at the same time that were both confirmed, and both expected the same record. */
function forked({ id, swaps }: NodeCalls): Timed[] {
  const winners = new Map<string, Swap>();
  return swaps
    .filter(({ call }) => call.result === true)
    .flatMap((swap) => {
      const other = winners.get(keyOf(swap.expected));
      winners.set(keyOf(swap.expected), swap);
      if (other === undefined) return [];
      const detail =
        `${nodeText(id)}: ${other.call.by} and ${swap.call.by} were both told that they had replaced ${shown(swap.expected)}, ` +
        `by ${shown(other.next)} and by ${shown(swap.next)}`;
      return [{ rule: 'compared' as const, at: Math.max(swap.call.at, other.call.at), detail }];
    });
}

/** Records that nobody has written. */
function altered({ id, seen, written }: NodeCalls): Timed[] {
  const known = new Set(written.map(keyOf));
  return seen
    .filter(({ state }) => state !== undefined && !known.has(keyOf(state)))
    .map(({ call, state }) => {
      const meant = written.find(
        ({ owner }) => owner !== null && ownerOf(owner) === ownerOf(state?.owner ?? null),
      );
      const instead = meant === undefined ? 'which nobody has written' : `and ${shown(meant)} was written`;
      const detail = `${nodeText(id)}: the store showed ${shown(state)}, ${instead}`;
      return { rule: 'exact' as const, at: call.at, detail };
    });
}

/** Swaps that were refused, and whose records were stored all the same. */
function contradicted({ id, swaps, confirmed }: NodeCalls): Timed[] {
  const done = new Set(swaps.filter(({ call }) => call.result === true).map(({ next }) => keyOf(next)));
  return swaps
    .filter(({ call, next }) => call.result === false && !done.has(keyOf(next)))
    .filter(({ next }) => confirmed.some(({ state }) => keyOf(state) === keyOf(next)))
    .map(({ call, next }) => {
      const detail = `${nodeText(id)}: the store refused ${shown(next)} of ${call.by}, and stored it all the same`;
      return { rule: 'once' as const, at: call.at, detail };
    });
}

/** Tells whether a state comes before another one. The records of a namespace itself have no order: they are there or not. */
function isLower(one: State, other: State): boolean {
  if (one === undefined || other === undefined || one.id < 0) return one === undefined && other !== undefined;
  const [a, b] = [rankOf(one), rankOf(other)];
  const differing = a.findIndex((part, i) => part !== b[i]);
  return differing >= 0 && (a[differing] as number) < (b[differing] as number);
}

const rankOf = ({ epoch, owner, fence }: LeaseRecord) => [epoch, owner === null ? 1 : 0, fence];

const keyOf = (state: State) =>
  state === undefined ? '' : `${ownerOf(state.owner)} ${state.epoch} ${state.fence} ${state.expiresAt}`;

/** The digest of an owner, as a server shows it to others. */
function ownerOf(owner: string | null): string {
  if (owner === null || owner.startsWith('sha256:')) return String(owner);
  return `sha256:${createHash('sha256').update(owner).digest('hex').slice(0, 32)}`;
}

const nodeText = (id: number) => (id < 0 ? "the namespace's own record" : `node id ${id}`);

function shown(state: State): string {
  if (state === undefined) return 'no record';
  const { owner, epoch, fence } = state;
  return owner === null ? `term ${epoch}, free from ${fence} on` : `term ${epoch}, held until ${fence}`;
}

// Blocks of sequences.

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
  return [...groupBy(calls.filter(isAllocation), sequenceOf)].flatMap(([name, allocations]) => {
    const runs = allocations.map(runOf);
    for (const { args } of calls.filter((call) => call.name === 'giveBack' && sequenceOf(call) === name))
      cutTail(runs, args[1]);
    runs.sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
    return [...overlaps(runs), ...(quiet ? gaps(runs) : []), ...lowEnds(calls, name, runs)].slice(0, 3);
  });
}

const isAllocation = ({ name, ended, error }: Call) =>
  name === 'allocate' && ended !== undefined && error === undefined;
const sequenceOf = ({ args }: Call) => String(args[0]);

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
    .filter(
      (call) => call.name === 'describeSequence' && sequenceOf(call) === name && call.result !== undefined,
    )
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

// Readings of the clock.

/** The most that two readings of the store's clock may disagree, ms. Some stores have whole seconds. */
const MAX_DISAGREEMENT = 2000;

/** A finding if the readings of the store's clock disagree, measured by a clock of this machine that never jumps. */
export function auditReadings(calls: readonly Call[]): Finding[] {
  const readings = calls.filter(({ name, result }) => name === 'now' && typeof result === 'number');
  // A reading was taken between the question and the answer, so each gives a range for the difference of the two clocks.
  const lowest = Math.max(...readings.map(({ result, ended }) => (result as number) - (ended as number)));
  const highest = Math.min(...readings.map(({ result, at }) => (result as number) - at));
  if (!(lowest - highest > MAX_DISAGREEMENT)) return [];
  const detail =
    `readings of the store's clock disagree by at least ${((lowest - highest) / 1000).toFixed(1)} s: ` +
    'it jumped, or servers with different clocks answer';
  return [{ rule: 'clock', detail }];
}

// Ids.

/** How far the time in an id may be from the time of the run, ms. */
const TOLERANCE = 60_000;

/** What is wrong with ids, exactly. */
export interface IdFindings {
  /** The number of records with an id that an earlier record has. */
  readonly duplicates: number;
  /** The number of moments of a node id that two sources have used: their windows overlapped, by chance without a duplicate. */
  readonly sharedMoments: number;
  readonly findings: Finding[];
}

/** Compares every id with every other one of its family. */
export function auditIds(records: Iterable<IdRecord>): IdFindings {
  const families = new Map<Family, { sources: Map<bigint, number>; users: Map<string, number> }>();
  const shared = new Map<string, Finding>();
  const repeated: Finding[] = [];
  for (const { family, source, id } of records) {
    const { sources, users } = families.get(family) ?? { sources: new Map(), users: new Map() };
    families.set(family, { sources, users });
    const other = sources.get(id);
    if (other !== undefined)
      repeated.push({
        rule: 'unique',
        detail: `${idText(family, id)} (${family}) was handed out by process ${other} and by process ${source}`,
      });
    sources.set(id, source);
    const origin = originOf(family, id);
    if (origin === undefined) continue;
    const { node, time } = origin;
    const moment = `${node}@${time}`;
    const user = users.get(moment) ?? source;
    users.set(moment, source);
    if (user === source) continue;
    const when = new Date(time).toISOString();
    const detail = `process ${user} and process ${source} both minted with node id ${node} of ${family} at ${when}`;
    shared.set(`${family} ${moment}`, { rule: 'unique', detail });
  }
  return {
    duplicates: repeated.length,
    sharedMoments: shared.size,
    findings: [...repeated, ...shared.values()],
  };
}

/** Flakes that are not above the one before them from the same generator. Other ids are in no order. */
export function disorder(records: Iterable<IdRecord>): Finding[] {
  const last = new Map<number, bigint>();
  const found: Finding[] = [];
  for (const { family, source, id, isFirst } of records) {
    if (family !== 'flakes') continue;
    const before = last.get(source);
    if (!isFirst && before !== undefined && id <= before)
      found.push({ rule: 'behaviour', detail: `process ${source}: ${id} came after ${before}` });
    last.set(source, id);
  }
  return found;
}

/** Ids with a time far from the time of the run: a process with a wrong clock was not refused. */
export function wrongTimes(records: Iterable<IdRecord>, begin: number, end: number): Finding[] {
  const found: Finding[] = [];
  for (const { family, source, id } of records) {
    const time = originOf(family, id)?.time;
    if (time === undefined || (time >= begin - TOLERANCE && time <= end + TOLERANCE)) continue;
    const when = new Date(time).toISOString();
    found.push({
      rule: 'clock',
      detail: `process ${source} minted ${idText(family, id)} (${family}), which says ${when}`,
    });
  }
  return found;
}

/** The number of ids of each family. */
export function countIds(
  records: Iterable<IdRecord>,
  families: readonly Family[],
): Partial<Record<Family, number>> {
  const counts: Partial<Record<Family, number>> = {};
  for (const family of families) counts[family] = 0;
  for (const { family } of records) counts[family] = (counts[family] ?? 0) + 1;
  return counts;
}
