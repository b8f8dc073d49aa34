import { systemRandom } from 'idsmith';
import { afterEach, describe, expect, it, vi } from 'vitest';

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
