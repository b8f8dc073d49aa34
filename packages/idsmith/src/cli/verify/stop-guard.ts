// Lets processes go on that were stopped when the command itself was killed. Otherwise they would stay stopped for ever.

import process from 'node:process';

const stopped = new Set<number>();

process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('message', ({ pid, isStopped }: { pid: number; isStopped: boolean }) => {
  if (isStopped) stopped.add(pid);
  else stopped.delete(pid);
});
process.on('disconnect', () => {
  for (const pid of stopped) {
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // The process is gone.
    }
  }
  process.exit(0);
});
