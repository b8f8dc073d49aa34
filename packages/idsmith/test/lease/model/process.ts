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
  type World,
} from './state.ts';

/** What a process may do next by itself. */
export function goOn(process: Process, state: State, world: World, rules: Rules, put: Put): void {
  const { task, held } = process;
  const records = state.records.filter((record) => record !== undefined);
  if (task?.kind === 'look') look(process, task.why, records, state, rules, put);
  else if (task?.kind === 'verify') verify(process, task, records, rules, put);
  else if (task?.kind === 'acquire' && task.acquiring.records) {
    const { acquiring } = task;
    const times = new Set(readings(state.time, world));
    if (acquiring.now !== undefined && mayUseOldTime(acquiring, world)) times.add(acquiring.now);
    for (const now of times) choose(process, acquiring, now, world, rules, put, state.names);
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
      const next = renewing(process, now, state.names, rules);
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

function renewing(process: Process, now: number, names: number, rules: Rules): Process & { task: SwapTask } {
  const held = process.held!;
  const { record } = held;
  const owner = rules.namesAttempts ? nameOf(names) : record.owner!;
  const next = rules.renewed(record, now, process.ttl, owner);
  const after: Held = rules.awaitsRenewal
    ? { ...held, attempts: [...held.attempts, next] }
    : { ...held, record: next };
  return { ...process, held: after, task: { kind: 'swap', why: 'renew', expected: record, next } };
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
export function answered(process: Process, task: SwapTask, world: World, rules: Rules, put: Put): void {
  if (task.why === 'claim') claimAnswered(process, task, world, rules, put);
  else put(`hears ${task.answer ? 'yes' : 'no'}`, afterAnswer(process, task, rules));
}

function afterAnswer(process: Process, { why, answer, next, acquiring }: SwapTask, rules: Rules): Process {
  if (acquiring) return acquireAgain(process, acquiring.owner);
  if (why === 'renew') {
    if (!answer && rules.looksAfterRefusal) return { ...process, task: { kind: 'look', why } };
    return afterWork(adopting(process, next), rules);
  }
  if (answer || why === 'release-again') return restarted(process);
  return { ...process, task: { kind: 'look', why: 'release' } };
}

/** A release that was called meanwhile leaves the lease as it was. */
function adopting(process: Process, record: LeaseRecord): Process {
  return process.releasing ? process : { ...process, held: { ...process.held!, record, attempts: [] } };
}

/** A swap of the own record was refused: it is another of our renewals', or another's. */
function look(
  process: Process,
  why: 'renew' | 'release',
  records: readonly LeaseRecord[],
  state: State,
  rules: Rules,
  put: Put,
): void {
  const { record, attempts } = process.held!;
  const current = records.find(({ id }) => id === record.id);
  const found = rules.verdict(current, record, attempts);
  if (why === 'release') {
    const mine = found === 'mine';
    put(
      `finds it ${mine ? '' : 'not '}its own`,
      mine ? leave(process, current!, 'release-again', rules) : restarted(process),
    );
  } else if (found === 'mine') {
    put('finds its own renewal', afterWork(adopting(process, current!), rules));
  } else if (process.releasing) {
    put('finds it lost', afterWork(process, rules));
  } else {
    const stops = found === 'broken' && rules.stopsWhenBroken;
    const left = stops ? { ...process, held: undefined } : process;
    put(`finds it ${found}`, acquireAgain(left, nameOf(state.names)), { names: state.names + 1 });
  }
}
