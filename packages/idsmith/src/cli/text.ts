// Text for a terminal, and JSON that a terminal can show.

/**
 * Characters that a terminal does not show, or that change what others look like: control characters, marks of direction, lone
 * surrogates, separators of lines, code points that are not assigned.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0]/gu;

/** A joiner within an emoji: a family, or a person with a profession. */
const EMOJI_JOINER =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\uFE0F?)\u200D(?=\p{Extended_Pictographic})/gu;

/**
 * Text with everything unseen written as `\u{202e}`, so that a name can neither hide nor move a terminal's cursor.
 *
 * @example
 * visible('a\u001B[2Jb'); // 'a\\u{1b}[2Jb'
 */
export function visible(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  const joiners = new Set(Array.from(text.matchAll(EMOJI_JOINER), ({ index }) => index));
  return text.replace(UNSEEN, (character, index: number) =>
    joiners.has(index) ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** JSON of a value with everything unseen as escapes, which mean the same. Values of `bigint` become decimal text. */
export function jsonText(value: unknown, indent?: number): string {
  // The quick way for ids.
  if (typeof value === 'string' && /^[\w-]*$/.test(value)) return `"${value}"`;
  const text = JSON.stringify(
    value,
    (_key, each) => (typeof each === 'bigint' ? String(each) : each),
    indent,
  );
  return text.replace(UNSEEN, (character) =>
    character === '\n'
      ? character
      : Array.from({ length: character.length }, (_, i) => escapeOf(character.charCodeAt(i))).join(''),
  );
}

const escapeOf = (unit: number) => `\\u${unit.toString(16).padStart(4, '0')}`;

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

/** Making one takes as long as half of a command, and most commands print ASCII. */
let graphemes: Intl.Segmenter | undefined;

/**
 * The columns of a text on a terminal. An emoji has two, whatever its parts.
 *
 * @example
 * textWidth('日本'); // 4
 */
export function textWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
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

/** Lines with aligned columns. Unseen characters are shown as escapes. */
export function table(header: string[], rows: string[][]): string[] {
  const all = [header, ...rows].map((row) => row.map(visible));
  const widths = header.map((_, column) =>
    all.reduce((widest, row) => Math.max(widest, textWidth(row[column] ?? '')), 0),
  );
  return all.map((row) =>
    row
      .map((cell, i) => padToWidth(cell, widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** A time in seconds as text: `1 min 5 s`. */
export function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** A number with commas: `1,234,567`. */
export const count = (number: number) => number.toLocaleString('en');
