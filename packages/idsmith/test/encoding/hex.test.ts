import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesToHex, hexDigit, hexToBytes } from '../../src/encoding/hex.ts';

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
