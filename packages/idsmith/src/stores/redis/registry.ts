import { StoreError, StoreWentBackError } from '../../errors.js';
import { show } from '../../options.js';
import type { StoreScripts } from './schema.js';
import { CONFIRM_NAMES, DELETE_KEY, LIST_REGISTRY, READ_REGISTRY, WRITE_REGISTRY } from './scripts.js';

/**
 * The key of the registry: a hash with an entry for each namespace and each sequence, and the store's own birth record. It tells new names from
 * lost ones. All of it is one key, so that nothing of it can get lost alone.
 */
export const REGISTRY = 'idsmith:registry';

/** The entry of a sequence of which no number was taken yet. */
const DEFINED = 'defined';

/** The set of sequences of versions before the registry: `generation:name`. */
const OLD_SEQUENCES = 'idsmith:sequences';

type Kind = 'namespace' | 'sequence';

/** The names that a store has ever used. */
export class Registry {
  readonly #scripts: StoreScripts;
  /** The namespaces that this process has listed. */
  readonly #namespaces = new Set<string>();

  constructor(scripts: StoreScripts) {
    this.#scripts = scripts;
  }

  /** Lists a namespace. Done before the first node id is claimed: a window that gets lost is one of a namespace that is listed. */
  async listNamespace(namespace: string): Promise<void> {
    if (this.#namespaces.has(namespace)) return;
    await this.#write('namespace', namespace, '*', 'namespace');
    this.#namespaces.add(namespace);
  }

  /** True if nobody has initialised the store, and no program has used it: it is new, or has lost its data. */
  async isBlank(): Promise<boolean> {
    const { isConfirmed } = await this.#read('namespace', '');
    return isConfirmed === undefined && (await this.names('namespace')).length === 0;
  }

  async removeNamespace(namespace: string): Promise<void> {
    this.#namespaces.delete(namespace);
    await this.#write('namespace', namespace, '*', '');
  }

  async isNewNamespace(namespace: string): Promise<boolean> {
    this.#namespaces.delete(namespace);
    return (await this.#read('namespace', namespace)).entry === undefined;
  }

  /** Lists a sequence that is about to be defined. */
  async listSequence(name: string): Promise<void> {
    await this.#write('sequence', name, '', DEFINED);
  }

  /**
   * Notes that numbers are taken from a sequence from now on.
   *
   * @returns takes the note back, if it is the last one
   */
  async noteUse(name: string): Promise<() => Promise<unknown>> {
    const note = crypto.randomUUID();
    await this.#write('sequence', name, '*', note);
    return () => this.#write('sequence', name, note, '');
  }

  /** Notes that a sequence is about to be removed: from now on it may be defined again. */
  async noteRemoval(name: string): Promise<void> {
    await this.#write('sequence', name, '*', DEFINED);
  }

  async removeSequence(name: string): Promise<void> {
    await this.#write('sequence', name, DEFINED, '');
  }

  /** The reason why a sequence without a row must not be defined; `undefined` if it is new. */
  async refusalOf(name: string): Promise<StoreError | undefined> {
    const { entry, isConfirmed } = await this.#read('sequence', name);
    if (entry !== undefined && entry !== DEFINED) return lost(name);
    if (isConfirmed) return undefined;
    return isConfirmed === undefined ? notConfirmed(name) : confirmedBefore(name);
  }

  /** A person confirms that all names are listed that were ever used. */
  async confirmNames(): Promise<void> {
    for (const name of await this.#oldSequences())
      await this.#write('sequence', name, '', crypto.randomUUID());
    await this.#scripts.run('removing an old list', DELETE_KEY, [OLD_SEQUENCES]);
    await this.#scripts.run(
      'confirming the names of the store',
      CONFIRM_NAMES,
      [REGISTRY],
      [new Date().toISOString()],
    );
  }

  async names(kind: Kind): Promise<string[]> {
    const prefix = fieldOf(kind, '');
    const listed = (await this.#list(REGISTRY)).filter((field) => field.startsWith(prefix));
    const names = listed.map((field) => field.slice(prefix.length));
    const old = kind === 'sequence' ? await this.#oldSequences() : [];
    return [...new Set([...names, ...old])].sort();
  }

  async #oldSequences(): Promise<string[]> {
    return (await this.#list(OLD_SEQUENCES)).map((entry) => entry.slice(entry.indexOf(':') + 1));
  }

  async #list(key: string): Promise<string[]> {
    return ((await this.#scripts.run('listing the registry', LIST_REGISTRY, [key])) as unknown[]).map(String);
  }

  async #read(kind: Kind, name: string) {
    const reply = await this.#scripts.run(
      `looking up a ${kind}`,
      READ_REGISTRY,
      [REGISTRY],
      [fieldOf(kind, name)],
    );
    const [entry, confirmed] = reply as unknown[];
    const isConfirmed = confirmed == null ? undefined : Number(confirmed) === 1;
    return { entry: entry == null ? undefined : String(entry), isConfirmed };
  }

  async #write(kind: Kind, name: string, expected: string, next: string): Promise<void> {
    const args = [fieldOf(kind, name), expected, next];
    await this.#scripts.run(`listing a ${kind}`, WRITE_REGISTRY, [REGISTRY], args);
  }
}

const fieldOf = (kind: Kind, name: string) => `${kind}:${name}`;

const DEFINE_LOST = 'npx idsmith seq define NAME --start BEYOND --lost --store URL';

/** After `restored`, programs define what is missing: so what is lost must be there before. */
const DEFINE_FIRST = `first define each lost sequence beyond its numbers: ${DEFINE_LOST}. Then run: npx idsmith restored --store URL`;

function lost(name: string): StoreError {
  return new StoreWentBackError(
    `redis store: sequence ${show(name)} is lost: the registry lists it, and its numbers are gone. Look up the highest number in your own ` +
      `data, and define the sequence beyond it: ${DEFINE_LOST}`,
  );
}

function notConfirmed(name: string): StoreError {
  return new StoreError(
    `redis store: idsmith init was never run on this Redis, so sequence ${show(name)} may have been lost, and is not defined. If the ` +
      `Redis is new, run once: npx idsmith init --store URL. If it has lost data, ${DEFINE_FIRST}`,
    { reason: 'NOT_INITIALISED' },
  );
}

function confirmedBefore(name: string): StoreError {
  return new StoreWentBackError(
    `redis store: this Redis has restarted, failed over or begun to replicate since its names were confirmed. Sequence ${show(name)} ` +
      `may have been lost, and is not defined. Find out what was lost. If it is this sequence, ${DEFINE_FIRST}`,
  );
}
