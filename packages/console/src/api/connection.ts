import { observable } from '../lib/observable.js';

/** Whether the server answers, and since when not, Unix ms. */
export interface Connection {
  readonly isAway: boolean;
  readonly since: number;
}

const UP: Connection = { isAway: false, since: 0 };

export const connection = observable<Connection>(UP);

/** Grows whenever all that is shown should be asked for anew. */
export const revision = observable(0);

export function refreshAll(): void {
  revision.set(revision.get() + 1);
}

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8000;
const PATIENCE = 3000;

let timer: ReturnType<typeof setTimeout> | undefined;

/** How often was asked. What an older question has come to is of no interest any more. */
let tries = 0;

/** A request has found nobody there: asks again, less and less often, until somebody is. */
export function lost(): void {
  if (!connection.get().isAway) plan(FIRST_PAUSE, Date.now());
}

function plan(pause: number, since: number): void {
  connection.set({ isAway: true, since });
  clearTimeout(timer);
  timer = setTimeout(() => ask(pause, since), pause);
}

/** Asks at once, because somebody wants to know. */
export function tryNow(): void {
  const { isAway, since } = connection.get();
  if (!isAway) return;
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
    const response = await fetch('healthz', { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE) });
    // To the end, or the browser would break it off when the patience is over.
    await response.text();
    return response.ok;
  } catch {
    return false;
  }
}
