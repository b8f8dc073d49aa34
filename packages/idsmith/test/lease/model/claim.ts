// The steps of an acquisition between having listed the records and holding one.

import type { LeaseRecord } from '../../../src/lease/port.ts';
import { type Candidate, isUndated, lineageOf, NAMESPACE_ID } from '../../../src/lease/protocol.ts';
import type { Rules } from './rules.ts';
import type { Acquiring, Process, Put, SwapTask, Task, World } from './state.ts';

/** The records were listed, and then the time was read: gives the namespace its record, claims a node id, or waits. */
export function choose(
  process: Process,
  { owner, records = [], now: before }: Acquiring,
  { now, lineage }: { readonly now: number; readonly lineage: number },
  world: World,
  rules: Rules,
  put: Put,
  names: number,
): void {
  const birth = records.find(({ id }) => id === NAMESPACE_ID);
  if (world.rewinds) {
    const founded = founding(process, birth, { now, lineage }, world, rules, nameOf(names));
    if (founded) {
      const task: Task = { kind: 'swap', why: 'birth', expected: birth, next: founded, acquiring: { owner } };
      put(`founds the namespace, from ${founded.fence} on`, { ...process, task }, { names: names + 1 });
      return;
    }
  }
  if (!world.durable && rules.needsBirth && (!birth || isUndated(birth))) {
    const next = birth
      ? rules.datedBirth(birth, now, process.limit, world.maxSkew)
      : rules.undatedBirth(rules.namesBirthsAnew ? nameOf(names) : owner);
    const task: Task = { kind: 'swap', why: 'birth', expected: birth, next, acquiring: { owner } };
    const what = birth ? `dates the namespace at ${now}` : 'finds no namespace';
    put(what, { ...process, task }, { names: names + 1 });
    return;
  }
  // Windows that others would not wait for are not taken.
  if (birth && rules.keepsLimits && process.ttl > birth.epoch) return;
  const ready = rules.candidates(records, world.nodes, now).filter((each) => rules.isReady(each, now));
  // Whoever has lost a race takes any.
  const picks = before === undefined ? [0] : ready.keys();
  if (ready.length > 0)
    for (const pick of picks) claim(process, ready, pick, { owner, now, lineage, birth }, world, rules, put);
  else put('finds none that is ready', acquireAgain(process, owner));
}

/** The namespace's own record that is needed before anything is claimed; `undefined` if the present one is right. */
function founding(
  { limit, ttl }: Process,
  birth: LeaseRecord | undefined,
  { now, lineage }: { readonly now: number; readonly lineage: number },
  { maxSkew, notes }: World,
  rules: Rules,
  owner: string,
): LeaseRecord | undefined {
  const told = String(lineage);
  // A namespace without a record is judged by the record of the store itself, which is older than any loss.
  const recorded = lineageOf(birth) ?? '0';
  const verdict = rules.judgeNamespace(recorded, { now, lineage: told }, limit, maxSkew);
  if (verdict.kind === 'wait-until') return rules.foundedBirth(owner, told, limit, verdict.time);
  if (birth && notes && ttl > birth.epoch) return { ...birth, owner, epoch: ttl };
  return birth ? undefined : rules.foundedBirth(owner, told, limit, 0);
}

function claim(
  process: Process,
  ready: readonly Candidate[],
  pick: number,
  { owner, now = 0, lineage, birth }: Acquiring,
  world: World,
  rules: Rules,
  put: Put,
): void {
  const { maxSkew, rewinds } = world;
  const candidate = ready[pick]!;
  const ttl = rules.grantedTtl(process.ttl, 0, world);
  const next = rules.claimed(candidate, now, { owner, label: '', ttl, maxSkew });
  const from = rules.windowStart(candidate, now, maxSkew);
  const left = ready.filter((other) => other !== candidate);
  const acquiring = { owner, now, birth, left, from, ...(rewinds && { lineage: lineage! }) };
  const compared = rewinds && { birth };
  const task: Task = { kind: 'swap', why: 'claim', expected: candidate.record, next, acquiring, ...compared };
  put(`claims ${next.id}, ${from} to ${next.fence}`, { ...process, task });
}

export function claimAnswered(process: Process, task: SwapTask, world: World, rules: Rules, put: Put): void {
  const { answer, acquiring, next } = task as Required<SwapTask>;
  const { owner, birth, left = [], from = 0 } = acquiring;
  if (answer && birth && !world.rewinds && rules.verifiesClaims) {
    const again: Task = { kind: 'verify', acquiring: { owner, birth, from }, claim: next };
    put('hears yes', { ...process, task: again });
  } else if (answer) put('hears yes', holding(process, next, from, rules, world.rewinds ? acquiring : {}));
  else {
    // Rivals are there: on with the same listing, or with a new one and the time at hand.
    put('hears no', acquireAgain(process, owner, acquiring.now, acquiring.lineage));
    for (const pick of left.keys()) claim(process, left, pick, acquiring, world, rules, put);
  }
}

/** A claim on a volatile store counts if the namespace is still the one that was listed. */
export function verify(
  process: Process,
  { acquiring, claim }: Task & { kind: 'verify' },
  records: readonly LeaseRecord[],
  rules: Rules,
  put: Put,
): void {
  const birth = records.find(({ id }) => id === NAMESPACE_ID);
  if (rules.sameRecord(birth, acquiring.birth)) {
    put('finds the namespace the same', holding(process, claim, acquiring.from!, rules, {}));
  } else put('finds another namespace', acquireAgain(process, acquiring.owner));
}

function holding(
  process: Process,
  record: LeaseRecord,
  from: number,
  rules: Rules,
  { lineage }: Partial<Acquiring>,
): Process {
  const start = process.held && !rules.takesNewStart ? process.held.from : from;
  const held = { record, from: start, attempts: [], copiedUntil: 0, lineage };
  // Of a generator that follows the clock nothing is left from the window before.
  const { floor } = process;
  return { ...process, task: undefined, held, lastUsed: floor - 1, stamped: 0 };
}

/** No two owners are ever called the same. */
export function nameOf(count: number): string {
  return `o${count}`;
}

/** @param now the time that whoever has lost a race uses again, with the lineage that came with it */
export function acquireAgain(process: Process, owner: string, now?: number, lineage?: number): Process {
  const again = { ...(now !== undefined && { now }), ...(lineage !== undefined && { lineage }) };
  return { ...process, task: { kind: 'acquire', acquiring: { owner, ...again } } };
}

/** Whether a time from before the listing may be used: not to date a namespace. */
export function mayUseOldTime({ records = [] }: Acquiring, { durable }: World): boolean {
  const birth = records.find(({ id }) => id === NAMESPACE_ID);
  return durable || (birth !== undefined && !isUndated(birth));
}
