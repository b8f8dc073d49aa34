import { useEffect, useState } from 'preact/hooks';

/** A value that changes only after it has stayed the same for `ms`, such as a text after the user has paused. */
export function usePause<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
