import { systemTimer, type Timer } from '../support/timer.js';
import { textWidth, visible } from './text.js';

/** A wait of this length, ms, is told. */
const LONG_WAIT = 3000;

/** The time between two updates of a bar, and between two lines where there is no terminal, ms. */
const [BAR_INTERVAL, LINE_INTERVAL] = [100, 2000];

/** The width of a bar in characters. */
const BAR_WIDTH = 24;

/** The part of standard error that is used. */
interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/**
 * Tells the user on standard error what a command does. With `--verbose` everything is told at once. Without it, a wait that is known
 * to be long is told, and at a terminal also one that has become long.
 */
export class Activity {
  readonly #isVerbose: boolean;
  readonly #screen: Screen;
  readonly #timer: Timer;
  #cancel: (() => void) | undefined;

  constructor(isVerbose: boolean, screen: Screen, timer: Timer = systemTimer) {
    this.#isVerbose = isVerbose;
    this.#screen = screen;
    this.#timer = timer;
  }

  /** Tells a fact, with `--verbose` only. */
  say(text: string): void {
    if (this.#isVerbose) this.#write(text);
  }

  /**
   * Tells the reason of a wait that begins now. {@link end} ends it, and so does the next wait.
   *
   * @param ms the length of the wait, if it is known
   */
  wait(text: string, ms?: number): void {
    this.end();
    if (this.#isVerbose || (ms ?? 0) >= LONG_WAIT) this.#write(text);
    else if (ms === undefined && this.#screen.isTTY === true)
      this.#cancel = this.#timer.after(LONG_WAIT, () => this.#write(`still ${text}`), true);
  }

  /** Ends the wait. */
  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #write(text: string): void {
    this.#screen.write(`idsmith: ${visible(text)}\n`);
  }
}

/** Progress on standard error: a bar on a terminal. Elsewhere, for example in a file, a line now and then, or nothing. */
export class ProgressBar {
  readonly #screen: Screen;
  #shownAt = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /**
   * @param share the part that is done, from 0 to 1
   * @param text stands behind the bar
   * @param line the line where there is no terminal
   */
  show(share: number, text: string, line?: string): void {
    const { isTTY = false, columns } = this.#screen;
    if (!isTTY && line === undefined) return;
    if (performance.now() - this.#shownAt < (isTTY ? BAR_INTERVAL : LINE_INTERVAL)) return;
    this.#shownAt = performance.now();
    if (!isTTY) {
      this.#screen.write(`idsmith: ${line}\n`);
      return;
    }
    const full = Math.floor(Math.min(1, Math.max(0, share)) * BAR_WIDTH);
    const bar = `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}] ${text}`;
    // A terminal that does not tell its width is assumed to have 80 columns.
    const room = (columns || 80) - 1;
    this.#screen.write(`\r\u001B[2K${textWidth(bar) > room ? bar.slice(0, room) : bar}`);
    this.#isDrawn = true;
  }

  /** Removes the bar. */
  end(): void {
    if (this.#isDrawn) this.#screen.write('\r\u001B[2K');
    this.#isDrawn = false;
  }
}
