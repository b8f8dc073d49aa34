import { readFile, rename, writeFile } from 'node:fs/promises';
import type { HistoryPlace } from './kept-history.js';

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
