import { createHash } from 'node:crypto';
import type { LeaseRecord } from 'idsmith';
import { STORE_NAMESPACE } from 'idsmith/internal/stores';
import type { Call } from '../history/history.js';
import type { Finding } from './rules.js';

// Judges a store by the calls that it has answered, whatever clocks said. The record of a node id only moves forward: terms grow,
// and within a term the fence grows until the release. So every state has a rank. Once a state was confirmed, by the answer to a
// swap or to a read, no later call may see a lower rank.

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
    `${nameOf(id)}: the store had confirmed ${shown(before.state)} to ${before.call.by}. ` +
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
        `${nameOf(id)}: ${other.call.by} and ${swap.call.by} were both told that they had replaced ${shown(swap.expected)}, ` +
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
      const detail = `${nameOf(id)}: the store showed ${shown(state)}, ${instead}`;
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
      const detail = `${nameOf(id)}: the store refused ${shown(next)} of ${call.by}, and stored it all the same`;
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

const nameOf = (id: number) => (id < 0 ? "the namespace's own record" : `node id ${id}`);

function shown(state: State): string {
  if (state === undefined) return 'no record';
  const { owner, epoch, fence } = state;
  return owner === null ? `term ${epoch}, free from ${fence} on` : `term ${epoch}, held until ${fence}`;
}
