import { constants } from 'node:os';
import process from 'node:process';
import { systemTimer } from '../support/timer.js';
import { Interrupted } from './command.js';

/** The time that most commands have to release what they hold, ms. */
const GRACE = 5000;

/**
 * Runs a command with a signal that Ctrl-C and SIGTERM abort. The command then releases what it holds. A second Ctrl-C, or a
 * command that takes too long, ends the process at once.
 */
export async function withInterrupt<T>(run: (signal: AbortSignal) => Promise<T>, grace = GRACE): Promise<T> {
  const controller = new AbortController();
  const handlers = (['SIGINT', 'SIGTERM'] as const).map((name) => {
    const exitCode = 128 + constants.signals[name];
    const handler = () => {
      if (controller.signal.aborted) process.exit(exitCode);
      systemTimer.after(grace, () => process.exit(exitCode), true);
      controller.abort(new Interrupted('', exitCode));
    };
    process.on(name, handler);
    return () => process.off(name, handler);
  });
  try {
    return await run(controller.signal);
  } finally {
    for (const remove of handlers) remove();
  }
}
