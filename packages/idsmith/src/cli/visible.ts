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
