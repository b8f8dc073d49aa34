interface Appointment {
  readonly at: number;
  readonly order: number;
  readonly fn: () => void;
  isOff: boolean;
}

/** Simulated time for very many timers. Appointments of one moment come in the order in which they were made. */
export class Agenda {
  /** Milliseconds. */
  now: number;
  #order = 0;
  /** A heap: each appointment comes before the two at twice its place. */
  readonly #heap: Appointment[] = [];

  constructor(now: number) {
    this.now = now;
  }

  after(ms: number, fn: () => void): () => void {
    const appointment = { at: this.now + Math.max(0, Math.ceil(ms)), order: this.#order++, fn, isOff: false };
    this.#push(appointment);
    return () => {
      appointment.isOff = true;
    };
  }

  /** Lets everything happen up to `end`, and promises settle after each moment. */
  async runTo(end: number): Promise<void> {
    for (let next = this.#heap[0]; next && next.at <= end; next = this.#heap[0]) {
      this.now = next.at;
      for (; next && next.at === this.now; next = this.#heap[0]) {
        this.#shift();
        if (!next.isOff) next.fn();
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.now = end;
  }

  #push(appointment: Appointment): void {
    const heap = this.#heap;
    let place = heap.push(appointment) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isBefore(appointment, heap[parent]!)) break;
      heap[place] = heap[parent]!;
      place = parent;
    }
    heap[place] = appointment;
  }

  #shift(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[place] = heap[child]!;
      place = child;
    }
    heap[place] = last;
  }
}

function isBefore(a: Appointment, b: Appointment): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
