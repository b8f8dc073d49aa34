interface Appointment {
  readonly at: number;
  readonly fn: () => void;
  /** Whether promises may be waiting for it. */
  readonly wakes: boolean;
  off: boolean;
}

/** Simulated time. It jumps from one appointment to the next; those of one moment come in the order they were made. */
export class Timeline {
  /** Milliseconds. */
  now: number;
  readonly #appointments: Appointment[] = [];

  constructor(now: number) {
    this.now = now;
  }

  /** Calls `fn` after `ms`; returns what calls it off. */
  after(ms: number, fn: () => void, wakes = true): () => void {
    const appointment = { at: this.now + Math.max(0, Math.ceil(ms)), fn, wakes, off: false };
    let index = this.#appointments.length;
    while (index > 0 && this.#appointments[index - 1]!.at > appointment.at) index--;
    this.#appointments.splice(index, 0, appointment);
    return () => {
      appointment.off = true;
    };
  }

  /** Lets everything happen up to `end`, unless `isOver` says otherwise. */
  async run(end: number, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const next = this.#appointments[0];
      if (next === undefined || next.at > end) break;
      this.#appointments.shift();
      if (next.off) continue;
      this.now = next.at;
      next.fn();
      if (next.wakes) await settled();
    }
    this.now = Math.max(this.now, end);
  }
}

/** When every promise that is ready has been followed up, and so on. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
