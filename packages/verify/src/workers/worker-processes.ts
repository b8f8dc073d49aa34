import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Call, RECORD_BYTES, readCalls } from '../history/history.js';
import type { CopiedLease, Message, Order, RequestFaultState, Task, WorkerFiles } from './task.js';

/** A process that has not ended this long, ms, after it was told to, is killed. The wait for an answer of the store comes on top. */
const END_MS = 8000;
/** A process that has written nothing for this long, ms, does not mint. */
const SILENCE_MS = 400;
/** A process that shall be a copy is up within this time, ms. */
const COPY_START_MS = 60_000;
/** A process that can be copied is there within this time, ms. */
const COPY_WAIT_MS = 90_000;
/** The number of processes that are tried when one shall be copied. */
const COPY_TRIES = 20;

// What is built: a process cannot load the sources, from which tests run.
const { resolve: scriptOf } = createRequire(import.meta.url);

/** A process that mints, as its run sees it. */
export class WorkerProcess {
  readonly name: string;
  readonly task: Task;
  /** The number of events of each kind that the process has told. */
  readonly events = new Map<string, number>();
  /** Errors that no process should meet. */
  readonly unexpected: string[] = [];
  /** Why families of sources fail, by `flakes of source 3`. */
  readonly failing = new Map<string, string>();
  readonly #child: ChildProcess;
  readonly #guard: ChildProcess;
  readonly #files: WorkerFiles & { readonly errors: string };
  readonly #exited: Promise<string>;
  #onCopied: (copied: CopiedLease | null) => void = () => {};
  #read = 0;
  #isWanted = true;
  #isPaused = false;

  constructor(folder: string, name: string, task: Task, guard: ChildProcess) {
    this.name = name;
    this.task = task;
    this.#guard = guard;
    const fileOf = (kind: string) => join(folder, `${name.replaceAll(' ', '-')}.${kind}`);
    this.#files = { ids: fileOf('ids'), calls: fileOf('calls'), errors: fileOf('errors') };
    closeSync(openSync(this.#files.ids, 'a'));
    closeSync(openSync(this.#files.calls, 'a'));
    // The task has a password in its URL, so it goes through the channel and not into the arguments, which others can see.
    this.#child = forkScript('#worker', this.#files.errors);
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
      // A process that could not be started.
      this.#child.once('error', () => this.#child.pid ?? resolve('no process'));
    });
    this.#child.on('message', (message: Message) => this.#hear(message));
    this.#order({ task, files: this.#files });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** True if the process is there, and goes on. */
  get isUp(): boolean {
    return this.#isWanted && !this.#isPaused;
  }

  /** True if the process has opened its store. */
  get isReady(): boolean {
    return this.events.has('ready');
  }

  /** True if the process mints: it has written ids a moment ago. */
  get isMinting(): boolean {
    const { size, mtimeMs } = statSync(this.#files.ids);
    return this.isUp && size > 0 && Date.now() - mtimeMs < SILENCE_MS;
  }

  /** The way in which the process ended, if nobody told it to. */
  get unexpectedExit(): string | undefined {
    const { exitCode, signalCode } = this.#child;
    if (!this.#isWanted || (exitCode === null && signalCode === null)) return undefined;
    const errors = readFileSync(this.#files.errors, 'utf8').trim().split('\n').slice(0, 12).join('\n');
    return `${this.name} ended by itself: ${signalCode ?? `exit code ${exitCode}`}${errors && `: ${errors}`}`;
  }

  /** Sets its clock off by `offset` more than at the beginning, ms. */
  setClock(offset: number): void {
    this.#order({ offset });
  }

  setRequestFault(fault: RequestFaultState): void {
    this.#order({ fault });
  }

  pause(): void {
    this.#isPaused = true;
    this.#guard.send({ pid: this.#child.pid, isPaused: true });
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#child.kill('SIGCONT');
    if (this.#guard.connected) this.#guard.send({ pid: this.#child.pid, isPaused: false });
    this.#isPaused = false;
  }

  async kill(): Promise<void> {
    this.#isWanted = false;
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  /** Has the process give back what it holds, and end. Says what was wrong about that, if anything was. */
  async end(): Promise<string | undefined> {
    this.#isWanted = false;
    if (this.#isPaused) this.resume();
    this.#order({ end: true });
    const ms = END_MS + this.task.timeout;
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), ms);
    const outcome = await this.#exited;
    clearTimeout(timer);
    if (outcome === 'exit code 0') return undefined;
    return `${this.name} did not end well within ${ms / 1000} s: ${outcome}`;
  }

  /** The lease of the process as a copy would have it; `undefined` if the process has none. */
  async copiedLease(isTold: boolean): Promise<CopiedLease | undefined> {
    const copied = new Promise<CopiedLease | null>((resolve) => {
      this.#onCopied = resolve;
      this.#order({ copy: { isTold } });
    });
    return (await Promise.race([copied, this.#exited.then(() => null)])) ?? undefined;
  }

  goOnWith(copied: CopiedLease): void {
    this.#order({ goOnWith: copied });
  }

  /** The records that were written since the last call. */
  readNew(): Uint8Array {
    const file = openSync(this.#files.ids, 'r');
    try {
      const { size } = statSync(this.#files.ids);
      // The process may be within a write.
      const length = size - this.#read - ((size - this.#read) % RECORD_BYTES);
      const bytes = Buffer.alloc(length);
      this.#read += readSync(file, bytes, 0, length, this.#read);
      return bytes;
    } finally {
      closeSync(file);
    }
  }

  /** All records. */
  ids(): Uint8Array {
    return readFileSync(this.#files.ids);
  }

  removeFiles(): void {
    for (const file of Object.values(this.#files)) rmSync(file, { force: true });
  }

  calls(): Call[] {
    return readCalls(this.name, readFileSync(this.#files.calls, 'utf8'));
  }

  #hear(message: Message): void {
    if ('event' in message) this.events.set(message.event, (this.events.get(message.event) ?? 0) + 1);
    else if ('unexpected' in message) this.unexpected.push(message.unexpected);
    else if ('copied' in message) this.#onCopied(message.copied);
    else if (message.why === undefined) this.failing.delete(message.failing);
    else this.failing.set(message.failing, message.why);
  }

  #order(order: Order): void {
    if (this.#child.connected) this.#child.send(order, () => {});
  }
}

/** All processes of a run, even those that were killed. */
export class WorkerProcesses {
  readonly all: WorkerProcess[] = [];
  /** What went wrong with processes that should not have ended, or should have. */
  readonly problems: string[] = [];
  readonly #folder: string;
  readonly #taskOf: (number: number) => Task;
  readonly #prefix: string;
  readonly #guard = forkScript('#pause-guard');
  #number = 1;

  /**
   * @param taskOf the task of each new process, by its number
   * @param prefix the beginning of the names of processes
   */
  constructor(folder: string, taskOf: (number: number) => Task, prefix = 'process') {
    this.#folder = folder;
    this.#taskOf = taskOf;
    this.#prefix = prefix;
  }

  /** Starts another process. @param changes to the task of its number */
  start(changes: Partial<Task> = {}): WorkerProcess {
    const task = { ...this.#taskOf(this.#number), ...changes, number: this.#number };
    const worker = new WorkerProcess(this.#folder, `${this.#prefix} ${task.number}`, task, this.#guard);
    this.#number += task.members ?? 1;
    this.all.push(worker);
    return worker;
  }

  /**
   * One of the processes that go on, one that mints if there is one.
   *
   * @param place a number from 0 up to, not including, 1
   */
  pick(place: number): WorkerProcess | undefined {
    // A wrong clock is not made worse.
    const up = this.all.filter(
      ({ isUp, isReady, task }) => isUp && isReady && Math.abs(task.offset) <= task.lease.maxSkew,
    );
    const minting = up.filter(({ isMinting }) => isMinting);
    const choice = minting.length > 0 ? minting : up;
    return choice[Math.floor(place * choice.length)];
  }

  get mintingCount(): number {
    return this.all.filter(({ isMinting }) => isMinting).length;
  }

  /** The time until `count` processes minted at once, ms; `undefined` if they did not within `ms`. */
  async untilMinting(count: number, ms: number): Promise<number | undefined> {
    const begin = performance.now();
    // What was written before now does not count.
    await sleep(SILENCE_MS);
    while (performance.now() - begin < ms) {
      if (this.mintingCount >= count) return Math.round(performance.now() - begin);
      await sleep(50);
    }
    return undefined;
  }

  /** Copies a process that has a lease: starts another one with the same memory, and both go on. */
  async copyOne(isTold: boolean, place: number): Promise<readonly WorkerProcess[]> {
    for (let tries = 0; tries < COPY_TRIES; tries++) {
      // After a loss, all wait for windows that may be forgotten.
      if ((await this.untilMinting(1, COPY_WAIT_MS)) === undefined) break;
      const original = this.pick((place + tries / COPY_TRIES) % 1);
      if (original === undefined) continue;
      const copy = this.start({ ...original.task, isCopy: true });
      // Only then, so that both are there while the record of the lease is still the same.
      await until(() => copy.isReady || !original.isUp, COPY_START_MS);
      const copied = await leaseWithin(original, isTold, 2 * original.task.lease.ttl);
      if (copied !== undefined) {
        copy.goOnWith(copied);
        return [original, copy];
      }
      // Others may hold all node ids from now on.
      await this.end(copy);
    }
    throw new Error('no process had a lease when it was to be copied');
  }

  async end(worker: WorkerProcess): Promise<void> {
    const problem = await worker.end();
    if (problem !== undefined) this.problems.push(problem);
  }

  /** Ends every process whose clock is right, and starts another one for each. */
  async replaceAll(): Promise<void> {
    const old = this.all.filter(({ isUp, task }) => isUp && Math.abs(task.offset) <= task.lease.maxSkew);
    await Promise.all(
      old.map(async (worker) => {
        await this.end(worker);
        this.start();
      }),
    );
  }

  /** Forgets a process that has ended, with its files: a long run has thousands of them. */
  forget(worker: WorkerProcess): void {
    this.all.splice(this.all.indexOf(worker), 1);
    worker.removeFiles();
  }

  /** Notes who ended without being told to, and has all others end. */
  async endAll(): Promise<void> {
    for (const { unexpectedExit } of this.all)
      if (unexpectedExit !== undefined) this.problems.push(unexpectedExit);
    await Promise.all(this.all.filter(({ isUp }) => isUp).map((worker) => this.end(worker)));
  }

  /** Kills every process at once. */
  async killAll(): Promise<void> {
    await Promise.all(this.all.map((worker) => worker.kill()));
    if (this.#guard.connected) this.#guard.disconnect();
  }
}

/** The lease of a process that may have none at the moment, but soon. */
async function leaseWithin(
  worker: WorkerProcess,
  isTold: boolean,
  ms: number,
): Promise<CopiedLease | undefined> {
  for (const begin = performance.now(); performance.now() - begin < ms; await sleep(50)) {
    const copied = await worker.copiedLease(isTold);
    if (copied !== undefined) return copied;
  }
  return undefined;
}

/** @throws Error when it is not so within `ms` */
export async function until(isSo: () => boolean, ms: number): Promise<void> {
  for (const begin = performance.now(); !isSo(); await sleep(20))
    if (performance.now() - begin > ms) throw new Error(`processes were not ready within ${ms} ms`);
}

/** @param errors the file for what the script writes on standard error */
function forkScript(name: string, errors?: string): ChildProcess {
  const file = errors === undefined ? 'ignore' : openSync(errors, 'a');
  const child = fork(scriptOf(name), { stdio: ['ignore', 'ignore', file, 'ipc'], execArgv: [] });
  if (typeof file === 'number') closeSync(file);
  // A message to a process that is about to end.
  child.on('error', () => {});
  return child;
}
