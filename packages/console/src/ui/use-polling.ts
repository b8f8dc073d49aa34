import { useEffect, useState } from 'preact/hooks';
import { connection, refreshCount } from '../api/connection.js';
import { useObservable } from './use-observable.js';

/** Something that the server is asked for again and again. */
export interface Polled<T> {
  /** The last answer, which stays while there is trouble. */
  readonly data: T | undefined;
  /** What is wrong at present. */
  readonly error: unknown;
}

/** The longest pause after failures, ms. */
const LONGEST_PAUSE = 15_000;

/**
 * Asks every `interval` ms, less often after failures, and not at all while the server is away or nobody looks.
 *
 * @param key what is asked for: when it changes, the old answer goes
 */
export function usePolling<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  interval: number,
): Polled<T> {
  const [state, setState] = useState<Polled<T> & { key: string }>({ key, data: undefined, error: undefined });
  const { isUnreachable } = useObservable(connection);
  const refreshes = useObservable(refreshCount);

  // `load` is what `key` stands for; a new refreshes asks anew.
  useEffect(() => {
    if (isUnreachable) return;
    const control = new AbortController();
    let pause = interval;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      if (document.hidden) return;
      try {
        const data = await load(control.signal);
        pause = interval;
        if (!control.signal.aborted) setState({ key, data, error: undefined });
      } catch (error) {
        pause = Math.min(pause * 2, LONGEST_PAUSE);
        if (!control.signal.aborted)
          setState((last) => ({ key, data: last.key === key ? last.data : undefined, error }));
      }
      if (!control.signal.aborted) timer = setTimeout(ask, pause);
    };
    const look = () => {
      if (document.hidden) return;
      clearTimeout(timer);
      timer = setTimeout(ask, 0);
    };
    void ask();
    document.addEventListener('visibilitychange', look);
    return () => {
      control.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [key, interval, isUnreachable, refreshes]);

  return state.key === key ? state : { data: undefined, error: undefined };
}
