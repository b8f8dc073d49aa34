import { afterEach, describe, expect, it, vi } from 'vitest';
import { randomFraction, systemRandom } from '../src/random.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('the system random source', () => {
  it('fills all of its target', () => {
    const seen = new Uint8Array(32);
    for (let i = 0; i < 64; i++) {
      const bytes = new Uint8Array(32);
      systemRandom.fill(bytes);
      bytes.forEach((byte, at) => {
        seen[at] = (seen[at] as number) | byte;
      });
    }
    // A byte that stayed zero 64 times would be one that was left out: the odds of chance are 2^-512.
    expect(seen.every((byte) => byte !== 0)).toBe(true);
  });

  it('throws where the runtime has no cryptographic source, rather than be weaker', () => {
    vi.stubGlobal('crypto', undefined);
    expect(() => systemRandom.fill(new Uint8Array(4))).toThrow();
  });
});

describe('a random fraction', () => {
  /** A source that gives these bytes, and zeros after them. */
  const source = (...bytes: number[]) => ({
    fill: (target: Uint8Array) => void target.set(bytes.slice(0, target.length)),
  });

  it('goes from 0 up to 1, and is never 1', () => {
    expect(randomFraction(source())).toBe(0);
    expect(randomFraction(source(0x80))).toBe(0.5);
    expect(randomFraction(source(255, 255, 255, 255))).toBe(1 - 2 ** -32);
  });
});
