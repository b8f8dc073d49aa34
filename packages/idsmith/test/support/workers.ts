import { fork } from 'node:child_process';
import { Worker } from 'node:worker_threads';

// Scripts load what is built, as users have it. The test's own process has the condition `idsmith-source` among its arguments.
const execArgv: string[] = [];

/** Runs a script in a worker thread and returns the one message it posts. */
export function inWorker<T>(script: URL, workerData?: unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(script, { workerData, execArgv });
    worker.once('message', resolve).once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the worker ended with ${code} and no message`)));
  });
}

/** Runs a script in a process of its own and returns its standard output. */
export function inProcess(script: URL, args: string[] = []): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = fork(script, args, {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      execArgv,
    });
    const chunks: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(Buffer.concat(chunks).toString('latin1'));
      else reject(new Error(`${script.pathname} ended with ${code}`));
    });
  });
}
