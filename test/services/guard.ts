import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, closeSync, mkdtempSync, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { User } from './run-as.ts';

interface Message {
  dir: string;
  pid?: number | undefined;
  signal?: NodeJS.Signals;
  gone?: boolean;
}

let watchdog: Socket | undefined;

function startWatchdog(): Socket {
  const script = fileURLToPath(new URL('./watchdog.mjs', import.meta.url));
  const child = spawn(process.execPath, [script], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    detached: true,
    env: {},
  });
  // Neither the guardian nor its pipe may keep the test process alive: its end is what they wait for.
  child.unref();
  const pipe = child.stdin as Socket;
  pipe.unref();
  return pipe;
}

function tell(message: Message): void {
  watchdog ??= startWatchdog();
  watchdog.write(`${JSON.stringify(message)}\n`);
}

/** Where the folders go. Root's own TMPDIR may be closed to the accounts that servers run as. */
export function folderRoot(): string {
  return process.getuid?.() === 0 ? '/tmp' : tmpdir();
}

/** Makes a temporary folder that is removed at the latest when this process ends, however it ends. */
export function makeFolder(name: string, owner?: User): string {
  const dir = mkdtempSync(join(folderRoot(), `idsmith-${process.pid}-${name}-`));
  tell({ dir });
  if (owner) chownSync(dir, owner.uid, owner.gid);
  return dir;
}

/** Removes a folder made by `makeFolder`. */
export async function removeFolder(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  tell({ dir, gone: true });
}

/** A program to run in a guarded folder. */
export interface GuardedCommand {
  readonly dir: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Record<string, string> | undefined;
  readonly user?: User | undefined;
  /** The signal that makes it end in an orderly way. */
  readonly stopSignal: NodeJS.Signals;
  /** The file its output is appended to. */
  readonly logFile: string;
}

/** Starts a program in a process group of its own; it ends at the latest when this process ends. */
export function spawnGuarded({
  dir,
  command,
  args,
  env,
  user,
  stopSignal,
  logFile,
}: GuardedCommand): ChildProcess {
  const log = openSync(logFile, 'a');
  // The shell waits for a line before it becomes the program, and gives up at the end of input. So if this
  // process is killed before the watchdog has heard of the new one, the program never starts.
  const child = spawn('/bin/sh', ['-c', 'read -r go && exec "$@"', 'sh', command, ...args], {
    stdio: ['pipe', log, log],
    cwd: dir,
    detached: true,
    // Not the surrounding environment: PG*, MYSQL_* and ETCD_* variables would change what is started.
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8', TMPDIR: dir, ...env },
    ...(user && { uid: user.uid, gid: user.gid }),
  });
  closeSync(log);
  tell({ dir, pid: child.pid, signal: stopSignal });
  child.once('exit', () => tell({ dir }));
  // An early death shows in the exit code and the log; the broken pipe it causes here adds nothing.
  child.stdin?.on('error', () => {});
  child.stdin?.end('go\n');
  return child;
}
