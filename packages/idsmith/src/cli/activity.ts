import { systemTimer, type Timer } from '../support/timer.js';
import { visible } from './text.js';

/** A wait of this length, ms, is told. */
const LONG_WAIT = 3000;

/** The part of standard error that is used. */
interface Screen {
  readonly isTTY?: boolean;
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
