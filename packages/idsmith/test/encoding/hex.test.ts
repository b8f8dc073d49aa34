import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesToHex, hexDigit, hexToBytes, reverseBytes, swapNibbles } from '../../src/encoding/hex.ts';

describe('hex', () => {
  it('is lower case with two digits a byte', () => {
    expect(bytesToHex(Uint8Array.of(0, 1, 0x0f, 0xab, 0xff))).toBe('00010fabff');
    expect(bytesToHex(new Uint8Array())).toBe('');
  });

  it('reads both cases back', () => {
    expect(hexToBytes('00010fabFF')).toEqual(Uint8Array.of(0, 1, 0x0f, 0xab, 0xff));
    expect(hexToBytes('')).toEqual(new Uint8Array());
  });

  it.each(['0', 'abc', 'g0', '0g', '0x', ' 0', '0/', '0:', '0@', '0`', '٢٢', '0\u0160'])(
    'refuses %j',
    (text) => {
      expect(hexToBytes(text)).toBeUndefined();
    },
  );

  it('knows exactly 22 digits', () => {
    const digits = Array.from({ length: 0x10000 }, (_, code) => code).filter((code) => hexDigit(code) >= 0);
    expect(String.fromCharCode(...digits)).toBe('0123456789ABCDEFabcdef');
  });

  it('round-trips any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(hexToBytes(bytesToHex(bytes))).toEqual(bytes);
      }),
    );
  });
});

const hex = (word: number) => (word >>> 0).toString(16).padStart(8, '0');

describe('the digits of a 32-bit number', () => {
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
