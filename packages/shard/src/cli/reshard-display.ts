import { count, duration } from 'idsmith/internal/cli';
import type { ReshardProgress } from '../reshard/options.js';

/** The time between two updates on a terminal, ms. */
const TERMINAL_INTERVAL = 100;

/** The time between two lines elsewhere, for example in a file, ms. */
const LINE_INTERVAL = 2000;

/** The width of the bar in characters. */
const BAR_WIDTH = 24;

interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Shows progress on standard error: a bar on a terminal, a line every two seconds elsewhere. */
export class ProgressDisplay {
  readonly #screen: Screen;
  /** The number of keys moved so far. */
  moved = 0;
  #shownAt = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  show(progress: ReshardProgress): void {
    this.moved = progress.moved;
    const { isTTY = false, columns } = this.#screen;
    if (performance.now() - this.#shownAt < (isTTY ? TERMINAL_INTERVAL : LINE_INTERVAL)) return;
    this.#shownAt = performance.now();
    // A terminal that does not tell its width is assumed to have 80 columns.
    const line = isTTY ? `\r\u001B[2K${bar(progress, columns || 80)}` : `idsmith: ${describe(progress)}\n`;
    this.#screen.write(line);
    this.#isDrawn = isTTY;
  }

  end(): void {
    if (this.#isDrawn) this.#screen.write('\r\u001B[2K');
    this.#isDrawn = false;
  }
}

function bar(progress: ReshardProgress, columns: number): string {
  const share = progress.total === 0 ? 1 : progress.scanned / progress.total;
  const full = Math.floor(share * BAR_WIDTH);
  const percent = `${Math.floor(share * 100)} %`.padStart(5);
  return `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}] ${percent}  ${describe(progress)}`.slice(
    0,
    columns - 1,
  );
}

function describe({ moved, rate, left }: ReshardProgress): string {
  const time = left === undefined ? '' : `, ${duration(left)} left`;
  // The rate of the first keys is not known yet.
  const speed = Math.round(rate) === 0 ? '' : `, ${count(Math.round(rate))} a second`;
  return `${count(moved)} keys moved${speed}${time}`;
}
