import { readFile, rename, writeFile } from 'node:fs/promises';
import { InvalidOptionError } from 'idsmith';
import type { Log } from '../ops/log.js';

/** The pause between two writings, ms. A server that is killed loses the history of this time. */
const INTERVAL = 60_000;

/** The first line of the file tells that it is ours, so that no other file is written over. */
const HEAD = '{"kind":"idsmith history","version":1,';

/** A part of the history that can be saved as JSON and loaded again. */
interface Part<Saved> {
  save(): Saved;
  load(saved: Saved): void;
}

/** The parts of a history, by their names in the file. */
// biome-ignore lint/suspicious/noExplicitAny: each part knows its own form.
export type HistoryParts = Readonly<Record<string, Part<any>>>;

/** A file that keeps the history of a server over restarts. */
export class HistoryFile {
  readonly #path: string;
  readonly #parts: HistoryParts;
  readonly #log: Log;
  #timer: ReturnType<typeof setInterval> | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, parts: HistoryParts, log: Log) {
    this.#path = path;
    this.#parts = parts;
    this.#log = log;
  }

  /**
   * Loads the file, if there is one, and writes it from now on.
   *
   * @throws InvalidOptionError when the file is something else, or cannot be written
   */
  async open(): Promise<void> {
    const text = await readFile(this.#path, 'utf8').catch((error) => {
      if (error.code === 'ENOENT') return undefined;
      throw this.#refusal(`cannot be read: ${error.message}`, error);
    });
    if (text !== undefined) this.#load(text);
    await this.#write().catch((error) => {
      throw this.#refusal(`cannot be written: ${error.message}`, error);
    });
    this.#timer = setInterval(() => {
      this.#writing = this.#writing
        .then(() => this.#write())
        .catch((error) => this.#log.error('history not written', { file: this.#path, error }));
    }, INTERVAL).unref();
  }

  /** Writes the file for the last time. */
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

  /** Replaces the file in one step, so that a server that is killed leaves a whole one. */
  async #write(): Promise<void> {
    const saved = Object.fromEntries(Object.entries(this.#parts).map(([name, part]) => [name, part.save()]));
    const beside = `${this.#path}.${process.pid}.tmp`;
    await writeFile(beside, HEAD + JSON.stringify(saved).slice(1), { mode: 0o600 });
    await rename(beside, this.#path);
  }

  #refusal(why: string, cause?: unknown): InvalidOptionError {
    return new InvalidOptionError(
      `historyFile: "${this.#path}" ${why}. Name another file, or move this one away`,
      cause === undefined ? undefined : { cause },
    );
  }
}
