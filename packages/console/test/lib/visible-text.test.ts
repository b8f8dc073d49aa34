import { expect, it } from 'vitest';
import { partsOf, shortName, visibleText } from '../../src/lib/visible-text.ts';

it.each([
  ['orders 2026', 'orders 2026'],
  ['заказы-注文-طلبات-é', 'заказы-注文-طلبات-é'],
  ['ord\u202eers', 'ord[U+202E]ers'],
  ['\u2066a\u2069', '[U+2066]a[U+2069]'],
  ['or\u200bders\ufeff', 'or[U+200B]ders[U+FEFF]'],
  ['a\u00a0b\u3000c\td\n', 'a[U+00A0]b[U+3000]c[U+0009]d[U+000A]'],
  ['\u3164\u2800\u115f\ufe0f', '[U+3164][U+2800][U+115F][U+FE0F]'],
  ['\u{e0041}\0\ud800', '[U+E0041][U+0000][U+D800]'],
  ['', ''],
])('shows %j as %j', (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

it('tells the numbers of characters from text that looks like them', () => {
  expect(partsOf('aU+202E\u202e')).toEqual([
    { text: 'aU+202E', isHidden: false },
    { text: 'U+202E', isHidden: true },
  ]);
});

it('cuts a long name in the middle, between whole characters', () => {
  expect(shortName('orders')).toBe('orders');
  expect([...shortName(`${'😀'.repeat(60)}end`)]).toHaveLength(48);
  expect(shortName(`begin${'x'.repeat(250)}end`)).toMatch(/^beginx+…x+end$/);
});
