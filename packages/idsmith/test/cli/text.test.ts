import { describe, expect, it } from 'vitest';
import { jsonText, table, textWidth, visible } from '../../src/cli/text.ts';

describe('The width of a text', () => {
  it.each([
    ['', 0],
    ['orders', 6],
    ['日本語', 6],
    ['ｶﾀｶﾅ', 4],
    ['ＡＢＣ', 6],
    ['한국어', 6],
    ['\u1112\u1161\u11AB', 2],
    ['é', 1],
    ['e\u0301', 1],
    ['a\u0300\u0301\u0302', 1],
    ['🎉', 2],
    ['👨‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['👍🏽', 2],
    ['❤️', 2],
    ['1️⃣', 2],
    ['→', 1],
    ['Ωλ', 2],
    ['שלום', 4],
    ['क्ष', 2],
    ['𠀋', 2],
  ])('of %j is %j columns', (text, width) => {
    expect(textWidth(text)).toBe(width);
  });

  it('aligns the columns of a table', () => {
    expect(
      table(
        ['name', 'next'],
        [
          ['日本', '1'],
          ['e\u0301a', '2'],
          ['🎉', '3'],
        ],
      ),
    ).toEqual(['name  next', '日本  1', 'e\u0301a    2', '🎉    3']);
  });

  it('does not limit the rows of a table', () => {
    expect(table(['name'], Array(200_000).fill(['x']))).toHaveLength(200_001);
  });
});

describe('Unseen characters', () => {
  it.each([
    ['a\u001B[2Jb', 'a\\u{1b}[2Jb'],
    ['a\nb\tc\0', 'a\\u{a}b\\u{9}c\\u{0}'],
    ['admin\u202Etxt', 'admin\\u{202e}txt'],
    ['\u2066x\u2069', '\\u{2066}x\\u{2069}'],
    ['a\u200Bb\uFEFF', 'a\\u{200b}b\\u{feff}'],
    ['a\u200Db', 'a\\u{200d}b'],
    ['\u009B31m', '\\u{9b}31m'],
    ['\uD800x', '\\u{d800}x'],
    ['\u2028', '\\u{2028}'],
    ['\u{E0041}', '\\u{e0041}'],
    ['\u3164', '\\u{3164}'],
    ['👨‍👩‍👧 ❤️‍🔥 日本 e\u0301', '👨‍👩‍👧 ❤️‍🔥 日本 e\u0301'],
  ])('of %j are shown', (text, shown) => {
    expect(visible(text)).toBe(shown);
    expect(table(['x'], [[text]])[1]).toBe(shown.trimEnd());
  });

  it('are escapes in JSON, which mean the same', () => {
    const value = { name: 'a\u202Eb\u{E0041}\u007F\u2028\uD800👨‍👩‍👧', id: 2n ** 63n };
    const text = jsonText(value, 2);
    expect(text).toContain('a\\u202eb\\udb40\\udc41\\u007f\\u2028\\ud800');
    expect(JSON.parse(text)).toEqual({ ...value, id: '9223372036854775808' });
  });
});
