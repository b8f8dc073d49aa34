import { observable } from '../lib/observable.js';

/** Whether the server answers, and since when not, Unix ms. */
export interface Connection {
  readonly isAway: boolean;
  readonly since: number;
  /** When it is asked again, Unix ms. */
  readonly nextTry: number;
}

const UP: Connection = { isAway: false, since: 0, nextTry: 0 };

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

/** A request has found nobody there: asks again, less and less often, until somebody is. */
export function lost(): void {
  if (connection.get().isAway) return;
  plan(FIRST_PAUSE, Date.now());
}

function plan(pause: number, since: number): void {
  connection.set({ isAway: true, since, nextTry: Date.now() + pause });
  timer = setTimeout(() => probe(pause, since), pause);
}

/** Asks at once, because somebody wants to know. */
export function tryNow(): void {
  const { isAway, since } = connection.get();
  if (!isAway) return;
  clearTimeout(timer);
  void probe(FIRST_PAUSE, since);
}

async function probe(pause: number, since: number): Promise<void> {
  try {
    const { ok } = await fetch('healthz', { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE) });
    if (!ok) throw new Error('not healthy');
  } catch {
    plan(Math.min(pause * 2, LONGEST_PAUSE), since);
    return;
  }
  connection.set(UP);
  refreshAll();
}
