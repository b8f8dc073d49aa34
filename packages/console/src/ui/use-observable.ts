import { useEffect, useState } from 'preact/hooks';
import type { Observable } from '../observable.js';

/** The current value of an observable. The component renders again when the value changes. */
export function useObservable<T>(source: Observable<T>): T {
  const [value, setValue] = useState<T>(() => source.get());
  useEffect(() => {
    setValue(() => source.get());
    return source.subscribe((next) => setValue(() => next));
  }, [source]);
  return value;
}
