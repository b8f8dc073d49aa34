import process from 'node:process';
import { textWidth } from 'idsmith/internal/cli';

/** The time between two updates, ms. */
const INTERVAL = 100;
const BAR_WIDTH = 24;

interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A bar on a terminal. Elsewhere, for example in a pipe, nothing is shown. */
export class ProgressBar {
  readonly #screen: Screen;
  #shownAt = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(screen: Screen = process.stderr) {
    this.#screen = screen;
  }

  /** @param share the part that is done, from 0 to 1 */
  show(share: number, text: string): void {
    if (this.#screen.isTTY !== true || performance.now() - this.#shownAt < INTERVAL) return;
    this.#shownAt = performance.now();
    const full = Math.floor(Math.min(1, Math.max(0, share)) * BAR_WIDTH);
    const bar = `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}] ${text}`;
    // A terminal that does not tell its width is assumed to have 80 columns.
    const room = (this.#screen.columns || 80) - 1;
    this.#screen.write(`\r\u001B[2K${textWidth(bar) > room ? bar.slice(0, room) : bar}`);
    this.#isDrawn = true;
  }

  end(): void {
    if (this.#isDrawn) this.#screen.write('\r\u001B[2K');
    this.#isDrawn = false;
  }
}
