// Lets processes go on that were paused when the command itself was killed. Otherwise they would stay paused for ever.

import process from 'node:process';

const paused = new Set<number>();

process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('message', ({ pid, isPaused }: { pid: number; isPaused: boolean }) => {
  if (isPaused) paused.add(pid);
  else paused.delete(pid);
});
process.on('disconnect', () => {
  for (const pid of paused) {
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // The process is gone.
    }
  }
  process.exit(0);
});
