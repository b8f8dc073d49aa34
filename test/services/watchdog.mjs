// The guardian of one test process. It holds the reading end of a pipe whose writing end belongs to that
// process. However that process ends (return, exception, signal, even kill -9), the kernel closes the pipe;
// then the guardian ends the servers that are still running and removes their folders.
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { endTree } from './process-tree.mjs';

const GRACE_MS = 2_000;

// Whoever interrupts the test process may signal everything around it: the guardian has to outlive that.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

/** What is to be cleaned up: folder -> the server working in it (`pid`) and the signal that ends it. */
const guarded = new Map();

for await (const line of createInterface({ input: process.stdin })) {
  const { dir, gone, ...server } = JSON.parse(line);
  if (gone) guarded.delete(dir);
  else guarded.set(dir, server);
}

await Promise.allSettled(
  [...guarded].map(async ([dir, { pid, signal }]) => {
    // Asked politely first: PostgreSQL otherwise leaves a shared memory segment behind.
    if (pid !== undefined) await endTree(pid, signal, GRACE_MS);
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }),
);
