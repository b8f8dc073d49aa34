import { useEffect, useState } from 'preact/hooks';

/** The current time, Unix ms, updated every `interval` ms. */
export function useNow(interval = 1000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), interval);
    return () => clearInterval(timer);
  }, [interval]);
  return now;
}
