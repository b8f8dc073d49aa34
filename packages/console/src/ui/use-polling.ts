import { useEffect, useState } from 'preact/hooks';
import { connection, refreshCount } from '../api/connection.js';
import { useObservable } from './hooks.js';

/** Data that is loaded again and again. */
export interface Polled<T> {
  /** The last response. It stays while requests fail. */
  readonly data: T | undefined;
  /** The error of the last request. */
  readonly error: unknown;
  /** True if the data may be wrong by now: the last request failed, or the server does not answer. */
  readonly isStale: boolean;
}

/** A server that has not answered for this long makes the data stale, ms. */
const LATE = 5000;

/** The longest pause after failures, ms. */
const LONGEST_PAUSE = 15_000;

/**
 * Loads data every `interval` ms, and less often after failures. Pauses while the server is unreachable or the tab is
 * hidden.
 *
 * @param key names the data; another key drops the old data
 */
export function usePolling<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  interval: number,
): Polled<T> {
  const [state, setState] = useState({ ...nothing<T>(), key });
  const { isUnreachable } = useObservable(connection);
  const refreshes = useObservable(refreshCount);

  // `key` stands for `load`, which is a new function in each render.
  useEffect(() => {
    if (isUnreachable) return;
    const control = new AbortController();
    let pause = interval;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let lateTimer: ReturnType<typeof setTimeout> | undefined;
    const poll = async () => {
      if (document.hidden) return;
      clearTimeout(lateTimer);
      lateTimer = setTimeout(() => setState((last) => ({ ...last, isStale: true })), LATE);
      try {
        const data = await load(control.signal);
        pause = interval;
        if (!control.signal.aborted) setState({ key, data, error: undefined, isStale: false });
      } catch (error) {
        pause = Math.min(pause * 2, LONGEST_PAUSE);
        if (!control.signal.aborted)
          setState((last) => ({ key, data: last.key === key ? last.data : undefined, error, isStale: true }));
      }
      clearTimeout(lateTimer);
      if (!control.signal.aborted) timer = setTimeout(poll, pause);
    };
    const resume = () => {
      if (document.hidden) return;
      clearTimeout(timer);
      timer = setTimeout(poll, 0);
    };
    void poll();
    document.addEventListener('visibilitychange', resume);
    return () => {
      control.abort();
      clearTimeout(timer);
      clearTimeout(lateTimer);
      document.removeEventListener('visibilitychange', resume);
    };
  }, [key, interval, isUnreachable, refreshes]);

  const { data, error, isStale } = state.key === key ? state : nothing<T>();
  return { data, error, isStale: isStale || isUnreachable };
}

const nothing = <T>(): Polled<T> => ({ data: undefined, error: undefined, isStale: false });
