/** The pause between two looks is at least so many times the duration of a look, so that looking is no load. */
const PAUSE_FACTOR = 50;

/** Looks at the store now and then, until it is closed. */
export class RegularLook {
  readonly #look: () => Promise<void>;
  readonly #pause: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** @param pause the shortest pause between two looks, ms */
  constructor(look: () => Promise<void>, pause: number) {
    this.#look = look;
    this.#pause = pause;
  }

  async start(): Promise<void> {
    const started = performance.now();
    // A store that is away leaves a gap in the history. Health tells of it.
    await this.#look().catch(() => {});
    if (this.#isClosed) return;
    const pause = Math.max(this.#pause, PAUSE_FACTOR * (performance.now() - started));
    this.#timer = setTimeout(() => this.start(), pause).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}
