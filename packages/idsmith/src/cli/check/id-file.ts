import { constants, createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InvalidOptionError } from '../../errors.js';
import type { Given } from '../command.js';
import { LONGEST_LINE, lineBatches, utf8Text } from '../input.js';

/** A line with an id, or with text in the place of an id. */
export interface IdLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/** A file of ids, one a line, that can be read again and again. */
export class IdFile {
  readonly #path: string;
  /** The source, for messages. */
  readonly #name: string;
  readonly #signal: AbortSignal;
  readonly #folder: string | undefined;

  private constructor(path: string, name: string, signal: AbortSignal, folder?: string) {
    this.#path = path;
    this.#name = name;
    this.#signal = signal;
    this.#folder = folder;
  }

  /**
   * Opens a file. `-` is standard input. What comes through a pipe is kept in a temporary file until {@link close}.
   *
   * @throws InvalidOptionError naming the file if it cannot be read
   */
  static async open(path: string, { signal, io }: Pick<Given, 'signal' | 'io'>): Promise<IdFile> {
    if (path === '-') return await IdFile.#keep(io.stdin, 'standard input', signal);
    const kind = await kindOf(path);
    if (kind === 'pipe') return await IdFile.#keep(createReadStream(path), path, signal);
    return new IdFile(path, path, signal);
  }

  static async #keep(stream: Readable, name: string, signal: AbortSignal): Promise<IdFile> {
    const folder = mkdtempSync(join(tmpdir(), 'idsmith-check-'));
    const file = new IdFile(join(folder, 'ids'), name, signal, folder);
    try {
      await pipeline(stream, createWriteStream(file.#path, { mode: 0o600 }), { signal });
      return file;
    } catch (error) {
      file.close();
      signal.throwIfAborted();
      throw error;
    }
  }

  /**
   * All lines that are not empty, many at a time.
   *
   * @throws InvalidOptionError naming the first line that is not UTF-8
   */
  async *read(): AsyncIterable<IdLine[]> {
    let before = 0;
    const textOf = (bytes: Buffer, line: number) => utf8Text(bytes, this.#name, line);
    for await (const lines of lineBatches(createReadStream(this.#path), this.#signal, textOf)) {
      const found: IdLine[] = [];
      for (let i = 0; i < lines.length; i++) {
        const text = lines[i] as string;
        if (text !== '') found.push({ number: before + i + 1, text });
      }
      before += lines.length;
      yield found;
    }
  }

  /** Removes the temporary file, if there is one. */
  close(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** True if the line was too long to be kept, so that it cannot be compared. */
export const isCut = ({ text }: IdLine) => text.length >= LONGEST_LINE;

/** @throws InvalidOptionError naming the path if nothing can be read there */
async function kindOf(path: string): Promise<'file' | 'pipe'> {
  try {
    await access(path, constants.R_OK);
    const found = await stat(path);
    if (found.isFile()) return 'file';
    if (found.isFIFO()) return 'pipe';
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new InvalidOptionError(`the file ${path} cannot be read: ${code}`, { cause });
  }
  throw new InvalidOptionError(`${path} is neither a file nor a pipe`);
}
