/** An id as it is in a text. */
interface Sealed<Id> {
  readonly keyId: number;
  /** The id; `undefined` unless the text was made with the key. Call this for a key that there is. */
  readonly open: () => Id | undefined;
}

/** A way to write ids as text after the prefix. */
export interface Form<Id> {
  /** The number of characters after `prefix_`. */
  readonly length: number;
  /** The whole text of an id, prefix included. @throws InvalidIdError when `id` is not an id that this form can hold */
  seal(id: unknown): string;
  /** Reads the characters after the prefix; `undefined` if they are no text of this form. */
  parse(body: string): Sealed<Id> | undefined;
}

/** The bits of a key id in the two long forms, and the number of key ids. */
export const KEY_ID_BITS = 7;
export const KEY_IDS = 2 ** KEY_ID_BITS;
/** The number of key ids in the short form. */
export const SHORT_KEY_IDS = 10;
/** The number of characters after the prefix, by form. 27 and 36 characters of base 32, 13 of base 62. */
export const LENGTHS = { int64: 27, uuid: 36, short: 13 } as const;
