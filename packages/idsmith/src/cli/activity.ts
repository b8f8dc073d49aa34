import process from 'node:process';
import { systemTimer, type Timer } from '../support/timer.js';
import { visible } from './visible.js';

/** A wait of this length, ms, is told to a person at a terminal. */
const LONG_WAIT = 3000;

/** The part of standard error that is used. */
interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * Tells the user on standard error what a command does. With `--verbose` everything is told at once. Without it, only a long
 * wait is told, and only at a terminal, so that scripts see errors and nothing else.
 */
export class Activity {
  readonly #isVerbose: boolean;
  readonly #screen: Screen;
  readonly #timer: Timer;
  #cancel: (() => void) | undefined;

  constructor(isVerbose: boolean, screen: Screen = process.stderr, timer: Timer = systemTimer) {
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
    if (this.#isVerbose) this.#write(text);
    else if (this.#screen.isTTY !== true) return;
    else if (ms !== undefined) {
      if (ms >= LONG_WAIT) this.#write(text);
    } else this.#cancel = this.#timer.after(LONG_WAIT, () => this.#write(`still ${text}`), true);
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
