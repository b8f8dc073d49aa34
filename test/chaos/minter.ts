import type { ChildProcess } from 'node:child_process';
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder, removeFolder, spawnGuarded } from '../services/guard.ts';
import { LAYOUT } from './layout.ts';

const SCRIPT = fileURLToPath(new URL('./minter.mjs', import.meta.url));
/** A process that has not ended this long, ms, after it was told to, never will. */
const END_MS = 45_000;

/** What a minter opens: a URL, or a Redis Cluster, for which there is none. */
export type Target =
  | { readonly url: string }
  | { readonly cluster: { nodes: object[]; natMap: Record<string, object>; maxTtl: number } };

/** What a minter mints. */
export type Family = 'flake' | 'locality';

/** What minters take their leases with. */
interface LeaseTerms {
  readonly namespace: string;
  readonly size: number;
  readonly ttl: number;
  readonly maxSkew: number;
}

/** What a minter is told at its start. */
export interface MinterTask {
  readonly family: Family;
  readonly target: Target;
  readonly terms: LeaseTerms;
  /** How far its clock is off when no fault makes it worse, ms. */
  readonly offset: number;
  /** The file with the memory of the process whose copy it is. It waits for the file. */
  readonly continues?: string;
}

/** One line of what a minter tells. */
export interface MinterEvent {
  readonly at: number;
  readonly event: string;
  readonly code?: string;
}

/** A process that mints, as those see it who torment it. */
export class Minter {
  readonly name: string;
  readonly task: MinterTask;
  readonly #folder: string;
  readonly #home: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<string>;
  #isWanted = true;
  #isPaused = false;

  constructor(folder: string, name: string, given: MinterTask) {
    this.name = name;
    this.task = given;
    this.#folder = folder;
    this.#home = makeFolder('minter');
    writeFileSync(this.#idsFile, '');
    this.jumpClock(0);
    const { target, terms, family, continues } = given;
    const lease = { ...terms, label: name };
    const files = { idsFile: this.#idsFile, clockFile: this.#clockFile, copyFile: this.#copyFile };
    const task = { store: target, lease, family, layout: LAYOUT, ...files, continues };
    this.#child = spawnGuarded({
      dir: this.#home,
      command: process.execPath,
      args: ['--disable-warning=IdsmithWarning', SCRIPT, JSON.stringify(task)],
      // For dynalite, which takes any.
      env: { AWS_ACCESS_KEY_ID: 'chaos', AWS_SECRET_ACCESS_KEY: 'chaos', AWS_EC2_METADATA_DISABLED: 'true' },
      stopSignal: 'SIGTERM',
      logFile: this.#logFile,
    });
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
  }

  get family(): Family {
    return this.task.family;
  }

  /** Has it write its memory into a file, from which a copy continues. If it is told so, it fences its lease. */
  copyTo(memoryFile: string, isTold: boolean): void {
    writeFileSync(`${this.#copyFile}.new`, JSON.stringify({ memoryFile, isTold }));
    renameSync(`${this.#copyFile}.new`, this.#copyFile);
    this.#child.kill('SIGUSR2');
  }

  /** Whether it is there, going and wanted. */
  get isUp(): boolean {
    return this.#isWanted && !this.#isPaused;
  }

  /** Whether it has written ids within the last `ms`. */
  hasMinted(ms: number): boolean {
    const { size, mtimeMs } = statSync(this.#idsFile);
    // The file is there from the beginning, empty.
    return this.isUp && size > 0 && Date.now() - mtimeMs < ms;
  }

  /** How it ended, if it did without having been told to. */
  get accident(): string | undefined {
    const { exitCode, signalCode } = this.#child;
    const hasEnded = exitCode !== null || signalCode !== null;
    return this.#isWanted && hasEnded ? `${this.name} ended by itself: ${signalCode ?? exitCode}` : undefined;
  }

  /** Has its clock jump by `ms` from where it was at first. */
  jumpClock(ms: number): void {
    // Renamed into place, so that it is never read half written.
    writeFileSync(`${this.#clockFile}.new`, String(this.task.offset + ms));
    renameSync(`${this.#clockFile}.new`, this.#clockFile);
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

  /** Has it release its lease and end; says what was wrong about that, if anything was. */
  async end(): Promise<string | undefined> {
    this.#isWanted = false;
    this.resume();
    this.#child.kill('SIGTERM');
    const late = new Promise<string>((resolve) => setTimeout(resolve, END_MS, 'late').unref());
    const outcome = await Promise.race([this.#exited, late]);
    await this.kill();
    // Until then it had no lease, and no way to hear the signal.
    const hadBegun = this.events().some(({ event }) => event === 'started');
    if (outcome === 'SIGTERM' && !hadBegun) return undefined;
    return outcome === 'exit code 0' ? undefined : `${this.name} did not end well on SIGTERM: ${outcome}`;
  }

  /** Whether it has handed out anything. */
  get hasIds(): boolean {
    return statSync(this.#idsFile).size > 0;
  }

  /** All that it has handed out, in order; an id of zeroes before those of each new generator. */
  ids(): Uint8Array {
    const bytes = readFileSync(this.#idsFile);
    // It may have been killed within a write.
    return Uint8Array.from(
      bytes.subarray(0, bytes.length - (bytes.length % (this.family === 'flake' ? 8 : 16))),
    );
  }

  events(): MinterEvent[] {
    const lines = readFileSync(this.#logFile, 'utf8').split('\n');
    return lines.filter((line) => line.startsWith('{') && line.endsWith('}')).map((line) => JSON.parse(line));
  }

  get #idsFile(): string {
    return join(this.#folder, `${this.name}.ids`);
  }

  get #clockFile(): string {
    return join(this.#folder, `${this.name}.clock`);
  }

  get #copyFile(): string {
    return join(this.#folder, `${this.name}.copy`);
  }

  get #logFile(): string {
    return join(this.#folder, `${this.name}.log`);
  }
}
