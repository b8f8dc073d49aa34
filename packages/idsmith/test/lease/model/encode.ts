import type { LeaseRecord } from '../../../src/lease/port.ts';
import { lineageOf } from '../../../src/lease/protocol.ts';
import type { Acquiring, Process, State, Swap, Task } from './state.ts';

/** Marks, apart from the small numbers of the model. */
const NONE = 0xff00;
const FREE = 0xff01;
const ANY_OWNER = 0xff02;
const FIRST_OWNER = 0xff10;
const TASKS = ['acquire', 'verify', 'look', 'swap'];
const REASONS = ['birth', 'claim', 'renew', 'release', 'release-again'];

const codes = new Uint16Array(4096);
let length = 0;
/** Which owner was written first, second …; `undefined` while names do not count. */
let owners: (string | null)[] | undefined;

/**
 * A text that two states have in common when nothing can tell them apart: it does not matter which process is which,
 * nor what owners are called.
 */
export function encode(state: State): string {
  owners = undefined;
  const order = state.processes
    .map((process) => ({ process, rank: rankOf(process) }))
    .sort((a, b) => a.rank - b.rank);
  owners = [];
  length = 0;
  write(state.time);
  write(state.faults);
  write(state.lineage);
  write(state.replica ? state.replica.length : NONE);
  if (state.replica) for (const record of state.replica) writeRecord(record);
  write(state.behindSince ?? NONE);
  for (const used of state.used) write(used);
  for (const { process } of order) writeProcess(process);
  for (const record of state.records) writeRecord(record);
  for (const stray of state.strays) writeSwap(stray);
  return String.fromCharCode.apply(null, codes.subarray(0, length) as unknown as number[]);
}

/** A number that depends on everything in a process but the names of owners. */
function rankOf(process: Process): number {
  length = 0;
  writeProcess(process);
  let rank = 0;
  for (let i = 0; i < length; i++) rank = (Math.imul(rank, 31) + codes[i]!) | 0;
  return rank;
}

function write(number: number): void {
  codes[length++] = number;
}

function writeProcess(process: Process): void {
  const { held, releasing, closed, lastUsed, floor, stamped, task, ttl, limit } = process;
  write((releasing ? 1 : 0) + (closed ? 2 : 0));
  write(lastUsed + 1);
  write(floor);
  write(stamped);
  write(ttl);
  write(limit);
  if (held) {
    writeRecord(held.record);
    write(held.from);
    write(held.copiedUntil);
    write(held.lineage ?? NONE);
    write(held.notedAt ?? NONE);
    write(held.attempts.length);
    for (const attempt of held.attempts) writeRecord(attempt);
  } else write(NONE);
  if (task) writeTask(task);
  else write(NONE);
}

function writeTask(task: Task): void {
  write(TASKS.indexOf(task.kind));
  if ('why' in task) write(REASONS.indexOf(task.why));
  if ('lineage' in task) {
    write(task.lineage ?? NONE);
    write(task.sentAt ?? NONE);
  }
  if (task.kind === 'look') return;
  if (task.kind === 'verify') writeRecord(task.claim);
  if (task.kind === 'swap') {
    write(task.answer === undefined ? NONE : Number(task.answer));
    writeSwap(task);
  }
  if (task.acquiring) writeAcquiring(task.acquiring);
}

function writeAcquiring({ owner, records, now = NONE, lineage, birth, left, from = 0 }: Acquiring): void {
  writeOwner(owner);
  write(now);
  write(lineage ?? NONE);
  write(from);
  writeRecord(birth);
  write(records ? records.length : NONE);
  if (records) for (const record of records) writeRecord(record);
  write(left ? left.length : NONE);
  if (!left) return;
  for (const { id, readyAt, record } of left) {
    write(id);
    write(readyAt);
    writeRecord(record);
  }
}

function writeSwap({ expected, next, birth }: Swap): void {
  writeRecord(expected);
  writeRecord(next);
  writeRecord(birth);
}

function writeRecord(record: LeaseRecord | undefined): void {
  if (!record) {
    write(NONE);
    return;
  }
  writeOwner(record.owner);
  write(record.id + 2);
  write(Number(lineageOf(record) || NONE));
  write(record.epoch);
  // A birth record without a date has a fence beyond 16 bits; what is left of it is beyond the model's time too.
  write(record.fence);
  write(record.expiresAt);
}

function writeOwner(owner: string | null): void {
  if (owner === null) write(FREE);
  else if (!owners) write(ANY_OWNER);
  else {
    const index = owners.indexOf(owner);
    write(FIRST_OWNER + (index < 0 ? owners.push(owner) - 1 : index));
  }
}
