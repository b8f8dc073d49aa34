// Names come from many programs. Some characters are invisible, look like a space, or turn the text around them: two
// different names then look the same. Such characters are shown by their numbers.

const HIDDEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** A piece of a text: plain characters, or the number of one that cannot be seen. */
export interface TextPart {
  readonly text: string;
  readonly isHidden: boolean;
}

/** Splits a text into plain pieces and the numbers of characters that cannot be seen, such as `U+202E`. */
export function partsOf(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    parts.push({ text: text.slice(from, index), isHidden: false });
    parts.push({ text: numberOf(character), isHidden: true });
    from = index + character.length;
  }
  parts.push({ text: text.slice(from), isHidden: false });
  return parts.filter((part) => part.text !== '');
}

/** A text for a place without markup: `abc[U+202E]def`. */
export function visibleText(text: string): string {
  return partsOf(text)
    .map((part) => (part.isHidden ? `[${part.text}]` : part.text))
    .join('');
}

/** The longest name in a heading or a message, characters. */
const LONGEST = 48;

/** A name for a heading or a message, cut in the middle if it is long. */
export function shortName(text: string): string {
  const characters = [...visibleText(text)];
  if (characters.length <= LONGEST) return characters.join('');
  return `${characters.slice(0, LONGEST / 2).join('')}…${characters.slice(1 - LONGEST / 2).join('')}`;
}

function numberOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
