import process from 'node:process';
import type { ReshardProgress } from '../shard/reshard/move/progress.js';

/** How often a terminal shows where it is, and how often a file gets a line, ms. */
const [REDRAW, PLAIN] = [100, 2000];

/** How wide the bar is. */
const WIDTH = 24;

interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Where it is: a bar on a terminal, a line now and then elsewhere. On standard error, so that the report pipes. */
export class Display {
  readonly #screen: Screen;
  moved = 0;
  #shownAt = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(screen: Screen = process.stderr) {
    this.#screen = screen;
  }

  show(progress: ReshardProgress): void {
    this.moved = progress.moved;
    const { isTTY = false, columns } = this.#screen;
    if (performance.now() - this.#shownAt < (isTTY ? REDRAW : PLAIN)) return;
    this.#shownAt = performance.now();
    // A terminal that does not say how wide it is is taken for an old one.
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
  const full = Math.floor(share * WIDTH);
  const percent = `${Math.floor(share * 100)} %`.padStart(5);
  return `[${'#'.repeat(full)}${'-'.repeat(WIDTH - full)}] ${percent}  ${describe(progress)}`.slice(
    0,
    columns - 1,
  );
}

function describe({ moved, rate, left }: ReshardProgress): string {
  const time = left === undefined ? '' : `, ${duration(left)} left`;
  return `${count(moved)} keys moved, ${count(Math.round(rate))} a second${time}`;
}

export function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** A number for people. */
export const count = (number: number) => number.toLocaleString('en');
