import { vi } from 'vitest';

/**
 * Runs `meanwhile` just before the `nth` compare-exchange from now on, as if another thread came between.
 *
 * @returns a function that tells whether there was such an exchange
 */
export function beforeExchange(nth: number, meanwhile: () => void): () => boolean {
  const real = Atomics.compareExchange as (...args: unknown[]) => unknown;
  let count = 0;
  const exchange = vi.spyOn(Atomics, 'compareExchange').mockImplementation(((...args: unknown[]) => {
    if (++count === nth) {
      exchange.mockRestore();
      meanwhile();
    }
    return real(...args);
  }) as never);
  return () => count >= nth;
}
