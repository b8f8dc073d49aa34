/** One way to read an id: its family and its fields. */
export interface Reading {
  /** The family. `'uuid'` is a UUID of another version than the locality ones. */
  readonly family: 'locality' | 'uuid' | 'flake' | 'key';
  /** The fields by name, in the order to show them. */
  readonly fields: Readonly<Record<string, string | number>>;
}
