/** One thing that an id may say: a family, and the fields it then has. */
export interface Reading {
  readonly family: 'locality' | 'uuid' | 'flake' | 'key';
  /** What the fields are, in the order people want them. */
  readonly fields: Readonly<Record<string, string | number>>;
}
