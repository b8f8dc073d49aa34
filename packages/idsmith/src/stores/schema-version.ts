import { StoreError } from '../errors.js';
import { show } from '../options.js';

/** The form of the data in a store, as the store's marker tells it. */
export interface SchemaVersion {
  /** The number of the form. It grows when tables, keys or their meaning change. */
  readonly version: number;
  /** The least version that a library must know to use this store. Lower than `version` while older libraries do no harm. */
  readonly leastReader: number;
}

/**
 * The schema that this library writes. A release that raises `leastReader` must not ignore a marker that it cannot write: see
 * {@link SchemaGate.mark}.
 */
export const SCHEMA: SchemaVersion = { version: 1, leastReader: 1 };

/** The schema of a store without a marker: release 0.1.0 wrote none. */
export const UNMARKED_SCHEMA: SchemaVersion = { version: 1, leastReader: 1 };

/** The operation in messages where nobody asks for anything else. */
const OPERATION = 'reading the schema version';

/** The marker of a store. */
export interface SchemaMarker {
  /** Reads the marker with one statement; `undefined` if there is none. Messages name the operation that needs it. */
  read(operation: string): Promise<SchemaVersion | undefined>;
  /** Writes the marker, unless there is one. */
  write(schema: SchemaVersion): Promise<void>;
  /** Tells whether the user of the store may not read the marker. */
  isForbidden(error: unknown): boolean;
}

/** The check of a store's schema, which is made once for each store object. */
export class SchemaGate {
  readonly #store: string;
  readonly #marker: SchemaMarker;
  #found: Promise<SchemaVersion | undefined> | undefined;
  #marking: Promise<void> | undefined;

  /** @param store the kind of the store in messages */
  constructor(store: string, marker: SchemaMarker) {
    this.#store = store;
    this.#marker = marker;
  }

  /**
   * The schema of the store. Reads the marker at the first call, and again only after a failure. A user who may not read the marker
   * goes on as with a store that has none.
   *
   * @throws StoreError when only later libraries may use the store
   */
  async admit(operation = OPERATION): Promise<SchemaVersion> {
    return (await this.#admitted(operation)) ?? UNMARKED_SCHEMA;
  }

  /**
   * Marks a store that has no marker, before something is created in it. A failure to write is ignored: a store without a marker
   * counts as version 1, and users need no right that they did not need before.
   *
   * @throws StoreError as {@link admit} does, also when a later library was quicker to mark the store
   */
  async mark(operation = OPERATION): Promise<void> {
    if ((await this.#admitted(operation)) !== undefined) return;
    this.#marking ??= this.#write(operation).catch((error) => {
      this.#marking = undefined;
      throw error;
    });
    await this.#marking;
  }

  async #write(operation: string): Promise<void> {
    await this.#marker.write(SCHEMA).catch(() => undefined);
    await this.#read(operation);
  }

  #admitted(operation: string): Promise<SchemaVersion | undefined> {
    this.#found ??= this.#read(operation).catch((error) => {
      this.#found = undefined;
      throw error;
    });
    return this.#found;
  }

  async #read(operation: string): Promise<SchemaVersion | undefined> {
    try {
      const found = await this.#marker.read(operation);
      if (found !== undefined) requireUsable(this.#store, found);
      return found;
    } catch (error) {
      if (this.#marker.isForbidden(error)) return undefined;
      throw error;
    }
  }
}

/**
 * Checks that this library may use a store.
 *
 * @throws StoreError naming the version that the store needs, and the one that this library knows
 */
export function requireUsable(store: string, { version, leastReader }: SchemaVersion): void {
  if (leastReader <= SCHEMA.version) return;
  throw new StoreError(
    `${store} store: the store has schema version ${version} and may be used only by an idsmith that knows version ` +
      `${leastReader}. This idsmith knows version ${SCHEMA.version}: upgrade idsmith here to the release that the other ` +
      'processes of this store use. Nothing was changed',
    { reason: 'NEWER_SCHEMA' },
  );
}

/** A schema version as text, for stores that keep texts. */
export const encodeSchema = ({ version, leastReader }: SchemaVersion) =>
  JSON.stringify({ version, leastReader });

/** @throws StoreError when the text is not a schema version */
export function decodeSchema(text: string): SchemaVersion {
  try {
    const { version, leastReader } = JSON.parse(text);
    return schemaOf(version, leastReader);
  } catch {
    throw unreadable(text);
  }
}

/** @throws StoreError when the values are not whole numbers from 1 up */
export function schemaOf(version: unknown, leastReader: unknown): SchemaVersion {
  const schema = { version: Number(version), leastReader: Number(leastReader) };
  for (const number of Object.values(schema))
    if (!Number.isSafeInteger(number) || number < 1) throw unreadable(`${version}, ${leastReader}`);
  return schema;
}

function unreadable(found: string): StoreError {
  return new StoreError(
    `the marker of the store's schema is ${show(found)}, which this idsmith cannot read: upgrade idsmith to the release that ` +
      'the other processes of this store use. Nothing was changed',
    { reason: 'NEWER_SCHEMA' },
  );
}
