import { observable } from '../observable.js';

/** The state of the connection to the server. */
export interface Connection {
  readonly isUnreachable: boolean;
  /** The time of the first failed request, Unix ms. */
  readonly since: number;
}

const UP: Connection = { isUnreachable: false, since: 0 };

export const connection = observable<Connection>(UP);

/** Grows by one whenever everything on the page should be loaded again. */
export const refreshCount = observable(0);

export function refreshAll(): void {
  refreshCount.set(refreshCount.get() + 1);
}

/** Since when the server has owed an answer, Unix ms; 0 if it owes none. A server that hangs takes requests and answers none. */
export const waitingSince = observable(0);

const sent = new Set<{ readonly at: number }>();

/** Notes a request. Call the result when the request has ended. */
export function requestSent(): () => void {
  const request = { at: Date.now() };
  sent.add(request);
  noteWait();
  return () => {
    sent.delete(request);
    noteWait();
  };
}

function noteWait(): void {
  waitingSince.set(sent.size === 0 ? 0 : Math.min(...[...sent].map(({ at }) => at)));
}

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8000;
const HEALTH_CHECK_TIMEOUT = 3000;

let timer: ReturnType<typeof setTimeout> | undefined;

/** The number of health checks so far. The result of an older check is ignored. */
let checks = 0;

/** Reports a request without a response. Health checks follow, less and less often, until one succeeds. */
export function connectionLost(): void {
  if (!connection.get().isUnreachable) scheduleCheck(FIRST_PAUSE, Date.now());
}

function scheduleCheck(pause: number, since: number): void {
  connection.set({ isUnreachable: true, since });
  clearTimeout(timer);
  timer = setTimeout(() => checkServer(pause, since), pause);
}

/** Checks the server at once, because the user asked for it. */
export function retryNow(): void {
  const { isUnreachable, since } = connection.get();
  if (!isUnreachable) return;
  clearTimeout(timer);
  void checkServer(FIRST_PAUSE, since);
}

async function checkServer(pause: number, since: number): Promise<void> {
  const mine = ++checks;
  const isUp = await isHealthy();
  if (mine !== checks) return;
  if (!isUp) return scheduleCheck(Math.min(pause * 2, LONGEST_PAUSE), since);
  connection.set(UP);
  refreshAll();
}

async function isHealthy(): Promise<boolean> {
  try {
    const response = await fetch('healthz', {
      cache: 'no-store',
      signal: AbortSignal.timeout(HEALTH_CHECK_TIMEOUT),
    });
    // Only the server itself answers like this: a proxy may have a page of its own while the server is away.
    const { status } = (await response.json()) as { status?: unknown };
    return response.ok && status === 'ok';
  } catch {
    return false;
  }
}
