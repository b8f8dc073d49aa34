import { systemRandom } from 'idsmith';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { randomUint32 } from '../src/random.ts';

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

describe('a random number', () => {
  it('takes its 32 bits from the source it is given', () => {
    expect(randomUint32({ fill: (target) => void target.fill(0) })).toBe(0);
    expect(randomUint32({ fill: (target) => void target.fill(255) })).toBe(2 ** 32 - 1);
  });
});
