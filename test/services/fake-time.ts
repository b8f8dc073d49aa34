import { chmodSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where Debian keeps the library: a folder for each kind of machine. */
function libraryPath(): string {
  const found = readdirSync('/usr/lib')
    .map((machine) => join('/usr/lib', machine, 'faketime', 'libfaketimeMT.so.1'))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error('there is no libfaketimeMT.so.1 in /usr/lib/*/faketime');
  return found;
}

/** A wall clock for programs, which can be set while they run. It goes on at its normal speed. The service `faketime` provides it. */
export class FakeTime {
  readonly #folder = mkdtempSync(join(tmpdir(), 'idsmith-faketime-'));
  readonly #file = join(this.#folder, 'offset');

  constructor() {
    // Servers run as other users.
    chmodSync(this.#folder, 0o755);
    this.#write(0);
  }

  /** The environment of a program that has this clock. */
  get env(): Record<string, string> {
    return {
      LD_PRELOAD: libraryPath(),
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** Sets the clock, for all programs in the same moment. */
  set(now: number): void {
    this.#write(now - Date.now());
  }

  #write(offset: number): void {
    const next = `${this.#file}.next`;
    writeFileSync(next, `${offset < 0 ? '-' : '+'}${(Math.abs(offset) / 1000).toFixed(3)}\n`);
    renameSync(next, this.#file);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
