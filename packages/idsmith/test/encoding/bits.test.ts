import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reverseBytes, swapNibbles } from '../../src/encoding/bits.ts';

const hex = (word: number) => (word >>> 0).toString(16).padStart(8, '0');

describe('bits', () => {
  it('reverses bytes', () => {
    expect(hex(reverseBytes(0x12345678))).toBe('78563412');
    expect(hex(reverseBytes(0x800000ff))).toBe('ff000080');
  });

  it('swaps the digits of each byte', () => {
    expect(hex(swapNibbles(0x12345678))).toBe('21436587');
    expect(hex(swapNibbles(0xf000000f | 0))).toBe('0f0000f0');
  });

  it('reverses all eight digits when both are done', () => {
    fc.assert(
      fc.property(fc.integer(), (word) => {
        expect(hex(reverseBytes(swapNibbles(word)))).toBe([...hex(word)].reverse().join(''));
      }),
    );
  });
});
