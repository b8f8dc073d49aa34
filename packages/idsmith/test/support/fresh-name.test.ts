import { describe, expect, it } from 'vitest';
import { freshName, randomName } from '../../src/support/fresh-name.ts';

describe('a fresh name', () => {
  it('is another one each time, though the random state is that of a copied process', () => {
    const same = { fill: (target: Uint8Array) => target.fill(7) };
    const names = new Set(Array.from({ length: 1000 }, () => freshName(same)));
    expect(names.size).toBeGreaterThan(900);
  });

  it('fits everywhere that a name goes', () => {
    expect(freshName()).toMatch(/^[0-9a-z-]{40,80}$/);
  });
});

describe('a random name', () => {
  it('has 128 bits of the source', () => {
    const fill = (target: Uint8Array) => {
      for (const [i] of target.entries()) target[i] = i * 16 + i;
    };
    expect(randomName({ fill })).toBe('00112233445566778899aabbccddeeff');
  });
});
