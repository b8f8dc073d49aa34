import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, spawnGuarded } from './guard.ts';
import { releasePorts } from './ports.ts';
import { until } from './probe.ts';
import { endTree, killTree, signalTree } from './process-tree.mjs';
import type { User } from './run-as.ts';
import type { CommandLine, ServerSpec } from './server-spec.ts';
import { firstData } from './templates.ts';

// Far more than any of them needs on an idle machine: a starved one must not fail a test.
const START_MS = 60_000;
const STOP_MS = 20_000;

/** How long the last clients have to go. A driver may say that its connections have ended a moment before they are closed. */
const DRAIN_MS = 300;

/** A private server: a child process in a temporary folder, listening on 127.0.0.1 only. */
export class ServerProcess {
  readonly port: number;
  readonly url: string;
  readonly dir: string;
  readonly #spec: ServerSpec;
  readonly #logFile: string;
  #child: ChildProcess | undefined;
  #prepared = false;

  constructor(spec: ServerSpec) {
    this.port = spec.ports[0];
    this.url = spec.url;
    this.dir = spec.dir;
    this.#spec = spec;
    this.#logFile = join(spec.dir, 'log');
  }

  /** The process id, or undefined while it does not run. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** The last lines of what the server has logged. */
  log(lines = 40): string {
    const text = existsSync(this.#logFile) ? readFileSync(this.#logFile, 'utf8') : '';
    return text.trimEnd().split('\n').slice(-lines).join('\n');
  }

  /** Starts the server, on the same port and data as before, and waits until it answers. */
  async start(): Promise<void> {
    if (this.#child) throw new Error(`${this.#spec.name} is already running`);
    if (!this.#prepared) await this.#prepare();
    this.#prepared = true;
    const child = this.#spawn(this.#spec.run, this.#spec.network);
    const isUp = await until(this.#spec.answers, {
      timeoutMs: START_MS,
      whileTrue: () => this.#child === child,
    });
    if (isUp) {
      // Who forgets to stop it can still end: the watchdog does the rest.
      child.unref();
      return;
    }
    const problem = this.#child ? `does not answer after ${START_MS} ms` : 'ended while starting';
    await this.kill();
    throw this.#failure(problem);
  }

  /** Ends the process in an orderly way and keeps its folder and port for another `start()`. */
  async shutdown(): Promise<void> {
    await this.#end((pid) => endTree(pid, this.#spec.stopSignal ?? 'SIGTERM', STOP_MS));
  }

  /** Ends the process and its children with SIGKILL, like a crash. `restart()` brings it back. */
  async kill(): Promise<void> {
    await this.#end(killTree);
  }

  /** Starts the server again on the same port and data, ending it first if it runs. */
  async restart(): Promise<void> {
    await this.shutdown();
    await this.start();
  }

  /** Freezes the server (SIGSTOP): connections stay open, nothing is answered. */
  pause(): void {
    this.#signal('SIGSTOP');
  }

  /** Lets a paused server go on. */
  resume(): void {
    this.#signal('SIGCONT');
  }

  /** Ends the server for good and removes its folder. */
  async stop(): Promise<void> {
    await this.#drain();
    await this.shutdown();
    if (existsSync(this.dir)) this.#spec.cleanUp?.();
    await removeFolder(this.dir);
    releasePorts(this.#spec.ports);
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.pid === undefined) throw new Error(`${this.#spec.name} is not running`);
    signalTree(this.pid, signal);
  }

  async #drain(): Promise<void> {
    const child = this.#child;
    if (this.#spec.drainSignal === undefined || child === undefined) return;
    child.kill(this.#spec.drainSignal);
    await until(async () => this.#child === undefined, { timeoutMs: DRAIN_MS });
  }

  async #end(end: (pid: number) => Promise<void>): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    child.ref();
    const exited = once(child, 'exit');
    await end(child.pid);
    await exited;
  }

  async #prepare(): Promise<void> {
    const { name, dir, prepare, isCopy, env = {} } = this.#spec;
    if (prepare === undefined) return;
    const make = async () => {
      const [code, signal] = await once(this.#spawn(prepare), 'exit');
      if (code !== 0) throw this.#failure(`could not be prepared (${signal ?? `exit code ${code}`})`);
    };
    // Surroundings such as another clock may show in the data.
    if (isCopy || Object.keys(env).length > 0) await make();
    else await firstData(name, join(dir, 'data'), make);
  }

  #spawn(line: CommandLine, network?: string): ChildProcess {
    const { dir, env, user, stopSignal = 'SIGTERM' } = this.#spec;
    const [command, ...args] = network === undefined ? line : inNetwork(network, line, user);
    const runAs = network === undefined ? user : undefined;
    const child = spawnGuarded({ dir, command, args, env, user: runAs, stopSignal, logFile: this.#logFile });
    this.#child = child;
    child.once('exit', () => {
      this.#child = undefined;
    });
    return child;
  }

  #failure(problem: string): Error {
    return new Error(`${this.#spec.name} ${problem}. The end of its log:\n${this.log()}`);
  }
}

/** Only root may enter a network, and becomes the user after that. */
function inNetwork(network: string, line: CommandLine, user: User | undefined): CommandLine {
  const become = user ? [`--setuid=${user.uid}`, `--setgid=${user.gid}`] : [];
  return ['nsenter', `--net=${network}`, ...become, '--', ...line];
}
