import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PackedValue, packArray, packTexts, unpackArrays } from '../../src/redis/message-pack.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('Arrays in MessagePack', () => {
  it('begin with their number of elements, and each string with its number of bytes', () => {
    expect(hex(packTexts(['a', 'bc']))).toBe('92a161a26263');
    expect(hex(packTexts([]))).toBe('90');
    expect(hex(packTexts(['é']))).toBe('91a2c3a9');
    expect(hex(packArray([Uint8Array.of(1), [Uint8Array.of(2, 3)]]))).toBe('92a10191a20203');
    expect(hex(packTexts(['x'.repeat(32)])).slice(0, 6)).toBe('91d920');
    expect(hex(packTexts(['x'.repeat(256)])).slice(0, 8)).toBe('91da0100');
    expect(hex(packTexts(['x'.repeat(65_536)])).slice(0, 12)).toBe('91db00010000');
    expect(hex(packTexts(new Array(16).fill(''))).slice(0, 6)).toBe('dc0010');
  });

  it.each([0, 31, 32, 255, 256, 65_535, 65_536])('are read with a string of %d bytes', (size) => {
    const bytes = new Uint8Array(size).fill(7);
    const read = unpackArrays(packArray([bytes, [bytes], Uint8Array.of(1)]));
    expect(read.map(String)).toEqual([bytes, [bytes], Uint8Array.of(1)].map(String));
  });

  it.each([0, 15, 16, 65_535, 65_536])('are read with %d elements', (count) => {
    const read = unpackArrays(packTexts(new Array(count).fill('a')));
    expect(read).toHaveLength(count);
    expect(read.every((one) => one[0] === 97)).toBe(true);
  });

  const value = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.uint8Array({ maxLength: 40 }).map((bytes): PackedValue => [bytes]),
  );
  it('that follow one another are read as they were written', () => {
    const bytesOf = (one: PackedValue) =>
      one instanceof Uint8Array ? Buffer.from(one) : [Buffer.from(one[0])];
    fc.assert(
      fc.property(fc.array(fc.array(value, { maxLength: 40 }), { maxLength: 5 }), (arrays) => {
        const read = unpackArrays(Buffer.concat(arrays.map(packArray)));
        expect(read.map(bytesOf)).toEqual(arrays.flat().map(bytesOf));
      }),
    );
  });
});
