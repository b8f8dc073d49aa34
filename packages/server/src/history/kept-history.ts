import { readFile, rename, writeFile } from 'node:fs/promises';
import { InvalidOptionError } from 'idsmith';
import type { Log } from '../ops/log.js';

/** The first line tells that the text is ours, so that nothing else is written over. */
const HEAD = '{"kind":"idsmith history","version":1,';

/** A part of the history that can be saved as JSON and loaded again. */
interface Part<Saved> {
  save(): Saved;
  load(saved: Saved): void;
}

/** The parts of a history, by their names in the text. */
// biome-ignore lint/suspicious/noExplicitAny: each part knows its own form.
export type KeptParts = Readonly<Record<string, Part<any>>>;

/** A place for the text of a history. */
export interface HistoryPlace {
  /** The place as messages name it, after the name of its setting: `historyFile: "/var/lib/history.json"`. */
  readonly name: string;
  /** What to do about a text that is not a history. */
  readonly wayOut: string;
  /** The pause between two writings, ms. A server that is killed loses the history of this time. */
  readonly interval: number;
  /** The text of the last run; `undefined` if there is none. */
  read(): Promise<string | undefined>;
  /** Replaces the text in one step, so that a server that is killed leaves a whole one. */
  write(text: string): Promise<void>;
}

/** A history that outlives restarts of the server. */
export class KeptHistory {
  readonly #place: HistoryPlace;
  readonly #parts: KeptParts;
  readonly #log: Log;
  #timer: ReturnType<typeof setInterval> | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(place: HistoryPlace, parts: KeptParts, log: Log) {
    this.#place = place;
    this.#parts = parts;
    this.#log = log;
  }

  /**
   * Loads the history, if there is one, and writes it from now on.
   *
   * @throws InvalidOptionError when the place has something else, or cannot be written
   */
  async open(): Promise<void> {
    const text = await this.#place.read().catch((error) => {
      throw this.#refusal(`cannot be read: ${error.message}`, error);
    });
    if (text !== undefined) this.#load(text);
    await this.#write().catch((error) => {
      throw this.#refusal(`cannot be written: ${error.message}`, error);
    });
    this.#timer = setInterval(() => {
      this.#writing = this.#writing
        .then(() => this.#write())
        .catch((error) => this.#log.error('history not written', { place: this.#place.name, error }));
    }, this.#place.interval).unref();
  }

  /** Writes the history for the last time. */
  async close(): Promise<void> {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    await this.#writing;
    await this.#write();
  }

  #load(text: string): void {
    if (!text.startsWith(HEAD)) throw this.#refusal('is not a history of this version');
    try {
      const saved = JSON.parse(text);
      for (const [name, part] of Object.entries(this.#parts)) part.load(saved[name]);
    } catch (error) {
      throw this.#refusal(`is damaged: ${(error as Error).message}`, error);
    }
  }

  async #write(): Promise<void> {
    const saved = Object.fromEntries(Object.entries(this.#parts).map(([name, part]) => [name, part.save()]));
    await this.#place.write(HEAD + JSON.stringify(saved).slice(1));
  }

  #refusal(why: string, cause?: unknown): InvalidOptionError {
    const { name, wayOut } = this.#place;
    return new InvalidOptionError(`${name} ${why}. ${wayOut}`, cause === undefined ? undefined : { cause });
  }
}

/** A file for the history of one server. */
export class HistoryFile implements HistoryPlace {
  readonly name: string;
  readonly wayOut = 'Name another file, or move this one away';
  readonly interval = 60_000;
  readonly #path: string;

  constructor(path: string) {
    this.name = `historyFile: "${path}"`;
    this.#path = path;
  }

  async read(): Promise<string | undefined> {
    return readFile(this.#path, 'utf8').catch((error) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
  }

  async write(text: string): Promise<void> {
    const beside = `${this.#path}.${process.pid}.tmp`;
    await writeFile(beside, text, { mode: 0o600 });
    await rename(beside, this.#path);
  }
}
