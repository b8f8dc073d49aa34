import type { Clock } from '../clock.js';
import type { Timer } from '../support/timer.js';

interface Appointment {
  readonly at: number;
  readonly order: number;
  readonly fn: () => void;
}

/**
 * A clock that moves only when the test moves it.
 *
 * @example
 * const clock = new FakeClock(Date.UTC(2026, 0, 1));
 * clock.advance(5); // five milliseconds later
 */
export class FakeClock implements Clock {
  /** Unix milliseconds. Set it to any value, even backwards. */
  time: number;

  constructor(time = 0) {
    this.time = time;
  }

  now(): number {
    return this.time;
  }

  /** Moves the clock forward by `ms`, or back if `ms` is negative. */
  advance(ms: number): void {
    this.time += ms;
  }
}

/**
 * Time that passes only when the test says so, with timers that fire in order. Runs leases without waiting.
 *
 * @example
 * const time = new FakeTime();
 * const lease = await acquireLease(store, { namespace: 'a', size: 4, clock: time.clock(), timer: time });
 * await time.advance(30_000);
 */
export class FakeTime implements Timer {
  /** Milliseconds. */
  now: number;
  #order = 0;
  #appointments: Appointment[] = [];

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.now = now;
  }

  /** A clock that is `offset` ms ahead of this time, or behind if negative. The offset may be changed. */
  clock(offset = 0): Clock & { offset: number } {
    const time = this;
    return {
      offset,
      now() {
        return time.now + this.offset;
      },
    };
  }

  /** Calls `fn` after `ms`. Returns a function that cancels the call. */
  after(ms: number, fn: () => void): () => void {
    const appointment = { at: this.now + Math.max(0, Math.ceil(ms)), order: this.#order++, fn };
    this.#appointments.push(appointment);
    return () => {
      this.#appointments = this.#appointments.filter((other) => other !== appointment);
    };
  }

  /** Lets `ms` pass. Timers that become due fire in order, and the promises that follow settle. */
  async advance(ms: number): Promise<void> {
    const end = this.now + ms;
    for (;;) {
      await settle();
      const next = this.#next();
      if (next === undefined || next.at > end) break;
      this.#appointments = this.#appointments.filter((other) => other !== next);
      this.now = Math.max(this.now, next.at);
      next.fn();
    }
    this.now = end;
    await settle();
  }

  #next(): Appointment | undefined {
    return this.#appointments.reduce<Appointment | undefined>(
      (best, each) =>
        best && (best.at < each.at || (best.at === each.at && best.order < each.order)) ? best : each,
      undefined,
    );
  }
}

/** Lets settled promises run their reactions, in chains of up to a few dozen steps. */
async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await undefined;
}
