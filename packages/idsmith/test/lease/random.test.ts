import { describe, expect, it } from 'vitest';
import { randomFraction, randomName } from '../../src/lease/random.ts';

/** A source that gives these bytes, and nothing after them. */
const source = (...bytes: number[]) => ({
  random: { fill: (target: Uint8Array) => void target.set(bytes.slice(0, target.length)) },
});

describe('a random fraction', () => {
  it('goes from 0 up to 1, and is never 1', () => {
    expect(randomFraction(source())).toBe(0);
    expect(randomFraction(source(0x80))).toBe(0.5);
    expect(randomFraction(source(255, 255, 255, 255))).toBe(1 - 2 ** -32);
  });
});

describe('a random name', () => {
  it('has 128 bits of the source', () => {
    const bytes = Array.from({ length: 16 }, (_, i) => i * 16 + i);
    expect(randomName(source(...bytes))).toBe('00112233445566778899aabbccddeeff');
  });
});
