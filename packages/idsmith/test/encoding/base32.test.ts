import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBase32, writeBase32 } from '../../src/encoding/base32.ts';

const write = (head: number, bytes: Uint8Array, characters: number) => {
  const target = new Uint8Array(characters);
  writeBase32(target, 0, head, 7, bytes);
  return Buffer.from(target).toString('latin1');
};

describe('base 32', () => {
  it('is the number of all bits in Crockford’s digits', () => {
    const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(fc.nat(127), bytes, (head, bytes) => {
        const number = (BigInt(head) << 128n) | BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
        const digits = number.toString(32).padStart(27, '0');
        const crockford = digits.replace(
          /[i-v]/g,
          (d) => 'jkmnpqrstvwxyz'['ijklmnopqrstuv'.indexOf(d)] as string,
        );
        const text = write(head, bytes, 27);
        expect(text).toBe(crockford);
        expect(readBase32(text, 7)).toEqual({ head, bytes });
      }),
    );
  });

  it('writes a part of the last byte, and reads zeroes in place of the rest', () => {
    const bytes = new Uint8Array(22).fill(0xff);
    const text = write(5, bytes, 36);
    expect(readBase32(text, 7)).toEqual({ head: 5, bytes: bytes.with(21, 0xf8) });
  });

  it('reads no other characters', () => {
    for (const character of 'iloIOLUAuü_- ') expect(readBase32(`0${character}`, 7)).toBeUndefined();
  });
});
