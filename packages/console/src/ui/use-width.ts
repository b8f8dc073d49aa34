import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** A ref for an element, and the width of that element in pixels. The width is 0 until it is known. */
export function useWidth<T extends HTMLElement>(): [ref: RefObject<T | null>, width: number] {
  const ref = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (ref.current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}
