import type { Clock, Timer } from 'idsmith';
import type { Timeline } from './timeline.ts';

/** How many readings it takes for a millisecond to pass, for a process that spins. */
const READINGS_PER_MS = 20;

/** What a process runs on: it can be stopped and continued, it can die, and its clock is its own. */
export class Machine {
  readonly name: string;
  /** How far its clock is ahead of the time, ms. */
  offset = 0;
  /** Whether it is cut off from the store. */
  isolated = false;
  readonly #timeline: Timeline;
  #state: 'running' | 'stopped' | 'dead' = 'running';
  #held: (() => void)[] = [];
  #readings = 0;
  #readAt = 0;

  constructor(name: string, timeline: Timeline) {
    this.name = name;
    this.#timeline = timeline;
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  get isDead(): boolean {
    return this.#state === 'dead';
  }

  readonly clock: Clock = {
    now: () => {
      if (this.#readAt !== this.#timeline.now) this.#readings = 0;
      this.#readAt = this.#timeline.now;
      return this.#timeline.now + this.offset + Math.floor(this.#readings++ / READINGS_PER_MS);
    },
  };

  readonly timer: Timer = {
    after: (ms, fn) => {
      let off = false;
      const cancel = this.#timeline.after(ms, () => this.run(() => off || fn()));
      return () => {
        off = true;
        cancel();
      };
    },
  };

  /** Does `fn` here: now, or when the machine continues, or never. */
  run(fn: () => void): void {
    if (this.#state === 'running') fn();
    else if (this.#state === 'stopped') this.#held.push(fn);
  }

  stop(): void {
    if (this.#state === 'running') this.#state = 'stopped';
  }

  /** Goes on: first with `first`, as if it had been stopped right there, then with what has become due. */
  continue(first: () => void): void {
    if (this.#state !== 'stopped') return;
    this.#state = 'running';
    first();
    const held = this.#held;
    this.#held = [];
    // Each on its own, so that what follows from one comes before the next.
    for (const fn of held) this.#timeline.after(0, () => this.run(fn));
  }

  die(): void {
    this.#state = 'dead';
    this.#held = [];
  }
}
