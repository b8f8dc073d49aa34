/** The code points of two columns in every terminal: CJK and full-width forms, as first and last of each range. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f265],
  [0x20000, 0x3fffd],
];

/** Code points without a column of their own: combining marks, format characters, the vowels and finals of Hangul. */
const NARROWLESS = /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11FF\uD7B0-\uD7FB]/u;

const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F|[#*0-9]\uFE0F?\u20E3/u;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * The columns of a text on a terminal. An emoji has two, whatever its parts.
 *
 * @example
 * textWidth('日本'); // 4
 */
export function textWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += EMOJI.test(segment) ? 2 : sumOf(segment);
  return width;
}

/** The text with spaces up to a number of columns. */
export function padToWidth(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}

function sumOf(grapheme: string): number {
  let width = 0;
  for (const character of grapheme) width += widthOf(character);
  return width;
}

function widthOf(character: string): number {
  const code = character.codePointAt(0) as number;
  if (NARROWLESS.test(character)) return 0;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}
