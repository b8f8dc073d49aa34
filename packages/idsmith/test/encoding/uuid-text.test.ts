import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readUuidText, writeUuidText } from '../../src/encoding/uuid-text.ts';

describe('the text of a UUID', () => {
  it('is read in either case, and written in lower case', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), fc.boolean(), (bytes, isUpper) => {
        const hex = Buffer.from(bytes).toString('hex');
        const text = hex.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
        const target = new Uint8Array(16);
        expect(readUuidText(isUpper ? text.toUpperCase() : text, target)).toBe(true);
        expect([target, writeUuidText(target)]).toEqual([bytes, text]);
      }),
    );
  });

  it('has 36 characters, hyphens in their places and hex digits elsewhere', () => {
    const text = '019b7c4e-94ce-7ba1-9d1c-21f1a6a6c9e8';
    const target = new Uint8Array(16);
    for (let at = 0; at < 36; at++)
      for (const wrong of text[at] === '-' ? '0a_' : '-gG/:@`{\u0100\u0130０')
        expect(readUuidText(text.slice(0, at) + wrong + text.slice(at + 1), target)).toBe(false);
    for (const wrong of ['', text.slice(1), `${text}0`, text.replaceAll('-', '')])
      expect(readUuidText(wrong, target)).toBe(false);
  });
});
