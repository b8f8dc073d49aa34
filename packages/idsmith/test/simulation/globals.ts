import type { SeededRandom } from './random.ts';
import type { Timeline } from './timeline.ts';

/**
 * Puts simulated time and randomness in place of the runtime's, for code that takes neither as an argument.
 *
 * @param later the milliseconds that the monotonic clock of the process at work is later than that of others
 * @returns a function that puts the runtime's own back
 */
export function simulateGlobals(
  timeline: Timeline,
  random: SeededRandom,
  later: () => number = () => 0,
): () => void {
  const { setTimeout, clearTimeout } = globalThis;
  const { now } = Date;
  const { random: fraction } = Math;
  const start = timeline.now;
  const after = (fn: () => void, ms = 0) => {
    const cancel = timeline.after(ms, fn);
    const handle = { cancel, unref: () => handle, ref: () => handle };
    return handle;
  };
  Object.assign(globalThis, {
    setTimeout: after,
    clearTimeout: (handle?: { cancel?: () => void }) => handle?.cancel?.(),
  });
  Date.now = () => timeline.now;
  Math.random = () => random.between(0, 2 ** 31 - 1) / 2 ** 31;
  Object.defineProperty(performance, 'now', {
    value: () => timeline.now - start + 1 + later(),
    configurable: true,
  });
  return () => {
    Object.assign(globalThis, { setTimeout, clearTimeout });
    Date.now = now;
    Math.random = fraction;
    Reflect.deleteProperty(performance, 'now');
  };
}
