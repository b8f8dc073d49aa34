import type { Clock } from '../../clock.js';
import type { DriverError } from '../../support/store-error.js';

/** SQLITE_BUSY or SQLITE_LOCKED, with any extension: SQLite has rolled the statement back. */
export function isBusy({ code, errcode, rawCode }: DriverError): boolean {
  const primaryCode = Number(errcode ?? rawCode) & 0xff;
  return primaryCode === 5 || primaryCode === 6 || code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED';
}

/** The time for which a locked file is waited for, ms. */
export interface Patience {
  /** The longest wait while nobody writes: the holder of the lock hangs, or has forgotten it. */
  readonly stalled: number;
  /** The longest wait while others write. */
  readonly busy: number;
}

/**
 * Tells how long a locked file is worth waiting for: as long as others write to it. When hundreds of processes share a file, a turn may
 * take long to come, but it comes.
 */
export class LockWatch {
  readonly #readVersion: () => unknown;
  readonly #longest: number;
  readonly #clock: Clock;
  /** The time since which nobody has written, as far as this connection knows; `undefined` while the file is not locked. */
  #since: number | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #lastVersion: string | undefined;

  /**
   * @param readVersion reads a number that changes when another connection writes, or throws while the file cannot even be read
   * @param longest the longest time for which a file may be locked while nobody writes to it, ms
   * @param clock ms from any start
   */
  constructor(readVersion: () => unknown, longest: number, clock: Clock = { now: () => performance.now() }) {
    this.#readVersion = readVersion;
    this.#longest = longest;
    this.#clock = clock;
  }

  /** Notes that the file was not locked. */
  passed(): void {
    this.#since = undefined;
  }

  /** Notes that the file was locked, and tells whether to wait on. */
  isWorthWaiting(): boolean {
    const now = this.#clock.now();
    // A look costs as much as a try.
    const isDue = this.#since === undefined || now - this.#lookedAt >= this.#longest / 10;
    const version = isDue ? this.#version() : undefined;
    if (isDue) this.#lookedAt = now;
    if (version !== undefined && version !== this.#lastVersion) {
      this.#lastVersion = version;
      this.#since = now;
    }
    this.#since ??= now;
    if (now - this.#since <= this.#longest) return true;
    this.#since = undefined;
    return false;
  }

  #version(): string | undefined {
    try {
      return String(this.#readVersion());
    } catch {
      return undefined;
    }
  }
}
