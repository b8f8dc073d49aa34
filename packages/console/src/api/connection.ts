import { observable } from '../lib/observable.js';

/** Whether the server answers, and since when not, Unix ms. */
export interface Connection {
  readonly isUnreachable: boolean;
  readonly since: number;
}

const UP: Connection = { isUnreachable: false, since: 0 };

export const connection = observable<Connection>(UP);

/** Grows whenever all that is shown should be asked for anew. */
export const refreshCount = observable(0);

export function refreshAll(): void {
  refreshCount.set(refreshCount.get() + 1);
}

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8000;
const HEALTH_CHECK_TIMEOUT = 3000;

let timer: ReturnType<typeof setTimeout> | undefined;

/** How often was asked. What an older question has come to is of no interest any more. */
let tries = 0;

/** A request has found nobody there: asks again, less and less often, until somebody is. */
export function connectionLost(): void {
  if (!connection.get().isUnreachable) plan(FIRST_PAUSE, Date.now());
}

function plan(pause: number, since: number): void {
  connection.set({ isUnreachable: true, since });
  clearTimeout(timer);
  timer = setTimeout(() => ask(pause, since), pause);
}

/** Asks at once, because somebody wants to know. */
export function retryNow(): void {
  const { isUnreachable, since } = connection.get();
  if (!isUnreachable) return;
  clearTimeout(timer);
  void ask(FIRST_PAUSE, since);
}

async function ask(pause: number, since: number): Promise<void> {
  const mine = ++tries;
  const isThere = await isHealthy();
  if (mine !== tries) return;
  if (!isThere) return plan(Math.min(pause * 2, LONGEST_PAUSE), since);
  connection.set(UP);
  refreshAll();
}

async function isHealthy(): Promise<boolean> {
  try {
    const response = await fetch('healthz', {
      cache: 'no-store',
      signal: AbortSignal.timeout(HEALTH_CHECK_TIMEOUT),
    });
    // To the end, or the browser would break it off when the patience is over.
    await response.text();
    return response.ok;
  } catch {
    return false;
  }
}
