// What a process does: the steps of `acquire` and `Lease`.
//
// Listing is one step, executed and answered: what follows is another request, whose own delay stands for that answer's.
// Reading the time and sending a swap is one; its execution and its answer are others, and belong to the network.

import type { LeaseRecord } from '../../../src/lease/port.ts';
import { acquireAgain, choose, claimAnswered, mayUseOldTime, nameOf, verify } from './claim.ts';
import type { Rules } from './rules.ts';
import {
  type Held,
  type Process,
  type Put,
  restarted,
  type State,
  type SwapTask,
  type Task,
  type Told,
  type World,
} from './state.ts';

/** What a process may do next by itself. */
export function goOn(process: Process, state: State, world: World, rules: Rules, put: Put): void {
  const { task, held } = process;
  const records = state.records.filter((record) => record !== undefined);
  if (task?.kind === 'look') look(process, task, records, state, rules, put);
  else if (task?.kind === 'verify') verify(process, task, records, rules, put);
  else if (task?.kind === 'acquire' && task.acquiring.records) {
    const { acquiring } = task;
    const lineage = rules.toldLineage(state.lineage);
    const moments = readings(state.time, world).map((now) => ({ now, lineage }));
    const { now = state.time, lineage: told = lineage } = acquiring;
    const isOther = moments.every((moment) => moment.now !== now || moment.lineage !== told);
    if (isOther && mayUseOldTime(acquiring, world)) moments.push({ now, lineage: told });
    for (const moment of moments) choose(process, acquiring, moment, world, rules, put, state.names);
  } else if (task?.kind === 'acquire' || (!held && !task)) {
    const owner = task ? task.acquiring.owner : nameOf(state.names);
    const next: Task = { kind: 'acquire', acquiring: { ...task?.acquiring, owner, records } };
    const seen = rules.keepsLimits ? (state.records[0]?.epoch ?? 0) : 0;
    const limit = Math.max(process.limit, seen);
    put('lists the records', { ...process, limit, task: next }, { names: state.names + 1 });
  }
  if (!held || process.releasing) return;
  if (!task && world.renews) {
    for (const now of readings(state.time, world)) {
      const next = renewing(process, now, state, world, rules);
      // One that would gain nothing changes nothing.
      if (next.task.next.fence !== held.record.fence)
        put(`renews at ${now}`, next, { names: state.names + 1 });
    }
  }
  if (world.releases && (!task || ('why' in task && task.why === 'renew'))) {
    const leaving = { ...process, releasing: true, closed: rules.closesFirst };
    put('releases', task ? leaving : afterWork(leaving, rules));
  }
}

/** What a process may take for the time: the store's clock, or its own, which may be off. */
function readings(time: number, { storeClock, clockError }: World): number[] {
  return storeClock ? [time] : [time - clockError, time, time + clockError].filter((now) => now >= 0);
}

function renewing(
  process: Process,
  now: number,
  { names, time, lineage }: State,
  world: World,
  rules: Rules,
): Process & { task: SwapTask } {
  const { rewinds, notes } = world;
  const notedAt = process.held!.notedAt ?? now;
  const held = notes ? { ...process.held!, notedAt } : process.held!;
  const { record } = held;
  const owner = rules.namesAttempts ? nameOf(names) : record.owner!;
  const next = rules.renewed(record, now, rules.grantedTtl(process.ttl, now - notedAt, world), owner);
  const after: Held = rules.awaitsRenewal
    ? { ...held, attempts: [...held.attempts, next] }
    : { ...held, record: next };
  const told = rewinds && {
    lineage: rules.toldLineage(lineage),
    ...(!rules.waitsForAnswer && { sentAt: time }),
  };
  return { ...process, held: after, task: { kind: 'swap', why: 'renew', expected: record, next, ...told } };
}

/** `release()` waits for a renewal that is under way. */
export function afterWork(process: Process, rules: Rules): Process {
  if (!process.releasing) return { ...process, task: undefined };
  return leave(process, process.held!.record, 'release', rules);
}

function leave(
  process: Process,
  record: LeaseRecord,
  why: 'release' | 'release-again',
  rules: Rules,
): Process {
  const next = rules.released(record, process.held!.from, process.lastUsed);
  return { ...process, task: { kind: 'swap', why, expected: record, next } };
}

/** The answer to a swap has come: on with what it was for. */
export function answered(
  process: Process,
  task: SwapTask,
  state: State,
  world: World,
  rules: Rules,
  put: Put,
): void {
  const { why, answer, next } = task;
  if (why === 'claim') claimAnswered(process, task, world, rules, put);
  else if (why === 'renew' && (answer || !rules.looksAfterRefusal))
    found(process, 'hears yes', next, task, state, rules, put);
  else put(`hears ${answer ? 'yes' : 'no'}`, afterAnswer(process, task));
}

function afterAnswer(process: Process, { why, answer, acquiring, sentAt, lineage }: SwapTask): Process {
  if (acquiring) return acquireAgain(process, acquiring.owner);
  if (why === 'renew') {
    const told = lineage !== undefined && { lineage, sentAt };
    return { ...process, task: { kind: 'look', why, ...told } };
  }
  if (answer || why === 'release-again') return restarted(process);
  return { ...process, task: { kind: 'look', why: 'release' } };
}

/** One of the renewals stands in the store. It counts, unless another had got the node id and the store has lost that. */
function found(
  process: Process,
  what: string,
  record: LeaseRecord,
  { sentAt, lineage }: Told,
  state: State,
  rules: Rules,
  put: Put,
): void {
  const held = process.held!;
  const isDoubtful = lineage !== undefined && rules.isLate(held.record, sentAt ?? state.time);
  if (process.releasing) put(what, afterWork(process, rules));
  else if (isDoubtful && rules.toldLineage(state.lineage) !== held.lineage)
    loses(process, `${what}, too late`, state, true, put);
  else {
    put(what, afterWork({ ...process, held: { ...held, record, attempts: [], lineage } }, rules));
  }
}

/** @param stops whether the window is given up at once */
function loses(process: Process, what: string, { names }: State, stops: boolean, put: Put): void {
  const left = stops ? { ...process, held: undefined } : process;
  put(what, acquireAgain(left, nameOf(names)), { names: names + 1 });
}

/** A swap of the own record was refused: it is another of our renewals', or another's. */
function look(
  process: Process,
  task: Task & { kind: 'look' },
  records: readonly LeaseRecord[],
  state: State,
  rules: Rules,
  put: Put,
): void {
  const { record, attempts } = process.held!;
  const current = records.find(({ id }) => id === record.id);
  const verdict = rules.verdict(current, record, attempts);
  if (task.why === 'release') {
    const mine = verdict === 'mine';
    put(
      `finds it ${mine ? '' : 'not '}its own`,
      mine ? leave(process, current!, 'release-again', rules) : restarted(process),
    );
  } else if (verdict === 'mine') {
    found(process, 'finds its own renewal', current!, task, state, rules, put);
  } else if (process.releasing) {
    put('finds it lost', afterWork(process, rules));
  } else loses(process, `finds it ${verdict}`, state, verdict === 'broken' && rules.stopsWhenBroken, put);
}
