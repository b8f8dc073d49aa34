import { constants } from 'node:os';
import process from 'node:process';

/**
 * Resolves at the first SIGTERM or SIGINT from now on. That signal no longer ends the process by itself; a second one ends the
 * process at once.
 */
export function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isFirst = true;
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        if (!isFirst) process.exit(128 + constants.signals[signal]);
        isFirst = false;
        resolve();
      });
  });
}
