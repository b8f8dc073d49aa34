import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type History, readHistory } from './history.js';
import type { RequestTrouble } from './request-faults.js';
import type { Order, Task } from './task.js';

/** A process that has not ended this long, ms, after it was told to, is killed. */
const END_MS = 8000;

const moduleOf = (name: string) => fileURLToPath(new URL(`./${name}.js`, import.meta.url));

/** A process that mints, as those see it who torment it. */
export class Worker {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #file: string;
  readonly #exited: Promise<string>;
  readonly #guard: ChildProcess;
  #isWanted = true;
  #isStopped = false;

  constructor(name: string, task: Task, guard: ChildProcess) {
    this.name = name;
    this.#file = task.file;
    this.#guard = guard;
    writeFileSync(this.#file, '');
    // The task has a password in its URL, so it goes through the channel and not into the arguments, which others can see.
    this.#child = forkQuietly('worker');
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    this.#tell({ task });
  }

  /** True if the process is there, and goes on. */
  get isUp(): boolean {
    return this.#isWanted && !this.#isStopped;
  }

  /** True if the process has opened the store. */
  get isReady(): boolean {
    return statSync(this.#file).size > 0;
  }

  /** The way in which the process ended, if nobody told it to. */
  get accident(): string | undefined {
    const { exitCode, signalCode } = this.#child;
    const hasEnded = exitCode !== null || signalCode !== null;
    return this.#isWanted && hasEnded
      ? `${this.name} ended by itself: ${signalCode ?? `exit code ${exitCode}`}`
      : undefined;
  }

  setClock(offset: number): void {
    this.#tell({ offset });
  }

  setTrouble(trouble: RequestTrouble): void {
    this.#tell({ trouble });
  }

  stop(): void {
    this.#isStopped = true;
    this.#guard.send({ pid: this.#child.pid, isStopped: true });
    this.#child.kill('SIGSTOP');
  }

  goOn(): void {
    this.#child.kill('SIGCONT');
    this.#guard.send({ pid: this.#child.pid, isStopped: false });
    this.#isStopped = false;
  }

  async kill(): Promise<void> {
    this.#isWanted = false;
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  /** Has the process give back what it holds, and end. */
  async end(): Promise<void> {
    this.#isWanted = false;
    this.#tell({ end: true });
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), END_MS);
    await this.#exited;
    clearTimeout(timer);
  }

  text(): string {
    return readFileSync(this.#file, 'utf8');
  }

  #tell(order: Order): void {
    if (this.#child.connected) this.#child.send(order, () => {});
  }
}

/** All processes of a run, also those that were killed. */
export class Crew {
  readonly everyone: Worker[] = [];
  readonly #folder: string;
  readonly #taskOf: (number: number) => Omit<Task, 'file'>;
  readonly #guard = forkQuietly('stop-guard');

  /** @param taskOf the task of each new process, by its number */
  constructor(folder: string, taskOf: (number: number) => Omit<Task, 'file'>) {
    this.#folder = folder;
    this.#taskOf = taskOf;
  }

  hire(): void {
    const number = this.everyone.length + 1;
    const file = join(this.#folder, `process-${number}.jsonl`);
    this.everyone.push(new Worker(`process ${number}`, { ...this.#taskOf(number), file }, this.#guard));
  }

  /** One of the processes that go on. @param place a number from 0 up to, not including, 1 */
  pick(place: number): Worker | undefined {
    const up = this.everyone.filter((worker) => worker.isUp && worker.isReady);
    return up[Math.floor(place * up.length)];
  }

  /** Has all processes end. Gives the accidents of those that had ended before. */
  async endAll(): Promise<string[]> {
    const accidents = this.everyone.flatMap(({ accident }) => (accident === undefined ? [] : [accident]));
    await Promise.all(this.everyone.filter(({ isUp }) => isUp).map((worker) => worker.end()));
    return accidents;
  }

  /** Kills every process at once. */
  async killAll(): Promise<void> {
    await Promise.all(this.everyone.map((worker) => worker.kill()));
    this.#guard.disconnect();
  }

  history(): History {
    return readHistory(new Map(this.everyone.map((worker) => [worker.name, worker.text()])));
  }
}

function forkQuietly(name: string): ChildProcess {
  const child = fork(moduleOf(name), { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  // A message to a process that is about to end.
  child.on('error', () => {});
  return child;
}
