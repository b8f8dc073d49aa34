import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LAYOUT } from '../chaos/layout.ts';
import { makeFolder, removeFolder, spawnGuarded } from '../services/guard.ts';
import { FAMILY_NAMES, RECORD_BYTES } from './record.ts';
import type { WorkerTask } from './worker-task.ts';

const SCRIPT = fileURLToPath(new URL('./worker.mjs', import.meta.url));
/** A process that has not ended this long, ms, after it was told to, never will. */
const END_MS = 45_000;
const CODES = Object.fromEntries(FAMILY_NAMES.map((name, code) => [name, code]));

/** A process that mints, as those see it who torment it. */
export class Worker {
  readonly name: string;
  readonly task: WorkerTask;
  /** How many ids of each source and family have been read. */
  readonly minted = new Map<string, number>();
  readonly #folder: string;
  readonly #home: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<string>;
  readonly #ids: number;
  #read = 0;
  #isWanted = true;
  #isPaused = false;

  /** @param store the name of the store */
  constructor(folder: string, store: string, task: WorkerTask) {
    this.name = `${store}-${task.number}`;
    this.task = task;
    this.#folder = folder;
    this.#home = makeFolder('soak');
    writeFileSync(this.#file('ids'), '');
    this.#ids = openSync(this.#file('ids'), 'r');
    this.jumpClock(0);
    const files = {
      idsFile: this.#file('ids'),
      clockFile: this.#file('clock'),
      troublesFile: this.#file('troubles'),
    };
    this.#child = spawnGuarded({
      dir: this.#home,
      command: process.execPath,
      args: [
        '--disable-warning=IdsmithWarning',
        SCRIPT,
        JSON.stringify({ ...task, codes: CODES, layout: LAYOUT, ...files }),
      ],
      // For dynalite, which takes any.
      env: { AWS_ACCESS_KEY_ID: 'soak', AWS_SECRET_ACCESS_KEY: 'soak', AWS_EC2_METADATA_DISABLED: 'true' },
      stopSignal: 'SIGTERM',
      logFile: this.#file('log'),
    });
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Whether it is there, going and wanted. */
  get isUp(): boolean {
    return this.#isWanted && !this.#isPaused;
  }

  /** How it ended, if it did without having been told to. */
  get accident(): string | undefined {
    const { exitCode, signalCode } = this.#child;
    if (!this.#isWanted || (exitCode === null && signalCode === null)) return undefined;
    const log = readFileSync(this.#file('log'), 'utf8').trim().split('\n').slice(0, 12).join('\n');
    return `${this.name} ended by itself (${signalCode ?? `exit code ${exitCode}`}): ${log}`;
  }

  /** Why a family of a source is silent, as far as the process knows. */
  troubleOf(key: string): string {
    try {
      const troubles = JSON.parse(readFileSync(this.#file('troubles'), 'utf8'));
      return troubles[key] ?? 'no call has failed';
    } catch {
      return 'the process has told nothing';
    }
  }

  /** What it has handed out since the last call: whole records. */
  readNew(): Uint8Array {
    const parts: Uint8Array[] = [];
    for (let isMore = true; isMore; ) {
      const part = Buffer.alloc(2730 * RECORD_BYTES);
      const length = readSync(this.#ids, part, 0, part.length, this.#read);
      // It may be within a write.
      const whole = length - (length % RECORD_BYTES);
      this.#read += whole;
      parts.push(part.subarray(0, whole));
      isMore = whole === part.length;
    }
    return Buffer.concat(parts);
  }

  /** Has its clock jump by `ms` from where it was at first. */
  jumpClock(ms: number): void {
    // Renamed into place, so that it is never read half written.
    writeFileSync(this.#file('clock.new'), String(this.task.offset + ms));
    renameSync(this.#file('clock.new'), this.#file('clock'));
  }

  pause(): void {
    this.#isPaused = true;
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#child.kill('SIGCONT');
    this.#isPaused = false;
  }

  async kill(): Promise<void> {
    this.#isWanted = false;
    this.#child.kill('SIGKILL');
    await this.#exited;
    await removeFolder(this.#home);
  }

  /** Has it release what it has and end; says what was wrong about that, if anything was. */
  async end(): Promise<string | undefined> {
    const hadBegun = this.#read > 0;
    this.#isWanted = false;
    this.resume();
    this.#child.kill('SIGTERM');
    const late = new Promise<string>((resolve) => setTimeout(resolve, END_MS, 'late').unref());
    const outcome = await Promise.race([this.#exited, late]);
    await this.kill();
    // Until it has begun it has no way to hear the signal.
    if (outcome === 'exit code 0' || (outcome === 'SIGTERM' && !hadBegun)) return undefined;
    return `${this.name} did not end well on SIGTERM: ${outcome}`;
  }

  /** Removes its files. It has ended, and everything was read. */
  forget(): void {
    closeSync(this.#ids);
    for (const kind of ['ids', 'clock', 'log', 'troubles']) rmSync(this.#file(kind), { force: true });
  }

  #file(kind: string): string {
    return join(this.#folder, `${this.name}.${kind}`);
  }
}
