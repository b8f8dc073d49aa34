// Plain JavaScript, because the watchdog runs it straight with Node while the tests import it too.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

// Slim Debian images have no `ps`, and macOS has no /proc.
const hasProc = existsSync('/proc/self/stat');

function readProc(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name in parentheses and may itself contain any character.
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { pid: Number(pid), parent: Number(parent), state };
  } catch {
    return undefined;
  }
}

function listProcesses() {
  if (hasProc) {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.map(readProc).filter((found) => found !== undefined);
  }
  const table = execFileSync('ps', ['-A', '-o', 'pid=', '-o', 'ppid=', '-o', 'state='], { encoding: 'utf8' });
  return table.split('\n').map((line) => {
    const [pid, parent, state] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), state };
  });
}

/** Whether a process exists and is more than a zombie (which only waits for its parent to notice). */
export function isRunning(pid) {
  if (hasProc) return !/^[ZX]?$/.test(readProc(pid)?.state ?? '');
  return listProcesses().some((found) => found.pid === pid && !found.state.startsWith('Z'));
}

/** The process and all its descendants, parents first. */
export function processTree(root) {
  const processes = listProcesses();
  const tree = [root];
  for (const pid of tree) {
    for (const found of processes) if (found.parent === pid) tree.push(found.pid);
  }
  return tree;
}

function send(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // Already gone: that is what every caller is after.
  }
}

/**
 * Signals a process, all its descendants and its process group, and returns the descendants it saw.
 * The group alone is not enough: every PostgreSQL backend makes itself the leader of a group of its own.
 */
export function signalTree(root, signal) {
  // Frozen, the root cannot start another child while they are being listed.
  send(root, 'SIGSTOP');
  const tree = processTree(root);
  send(-root, signal);
  for (const pid of tree) send(pid, signal);
  return tree;
}

async function allEnded(pids, withinMs) {
  const deadline = Date.now() + withinMs;
  while (pids.some(isRunning)) {
    if (Date.now() > deadline) return false;
    await sleep(10);
  }
  return true;
}

/** Ends a whole process tree at once and waits until it is gone. */
export async function killTree(root) {
  const tree = signalTree(root, 'SIGKILL');
  if (!(await allEnded(tree, 10_000))) throw new Error(`processes ${tree} survived SIGKILL`);
}

/** Asks the root of a process tree to end, and kills what is left of the tree after `graceMs`. */
export async function endTree(root, signal, graceMs) {
  // A paused process would never see the polite signal.
  const tree = signalTree(root, 'SIGCONT');
  send(root, signal);
  if (await allEnded(tree, graceMs)) return;
  for (const pid of tree) send(pid, 'SIGKILL');
  await killTree(root);
}
