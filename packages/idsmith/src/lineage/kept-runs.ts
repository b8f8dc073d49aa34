import { further } from './judge.js';

/** A run of numbers: `first`, and the number after its last one. */
interface Run {
  readonly first: bigint;
  end: bigint;
  /** The place of its answer among all answers. */
  readonly received: number;
}

/** The most runs that are remembered one by one. Earlier ones become a single run. */
const MOST_RUNS = 16;

/**
 * The numbers of a sequence that a process has got and kept, in the order of their receipt. Numbers that the process has given back were never
 * its own: other processes may get them, give them back in turn, and this process may get them again. None of this is a loss.
 */
export class KeptRuns {
  #runs: Run[] = [];
  #received = 0;
  /** The direction of the sequence: 1 or −1; 0 before the first run. */
  #direction = 0;
  /** The calls that are not answered yet: the number of answers when they were sent. */
  readonly #underway = new Set<{ readonly sent: number }>();

  /** The number after the last one; `undefined` if nothing is kept. */
  get end(): bigint | undefined {
    return this.#endOf(this.#runs);
  }

  get isUnused(): boolean {
    return this.#runs.length === 0 && this.#underway.size === 0;
  }

  /** Notes that a call is sent. It must be ended. */
  send(): { readonly sent: number } {
    const call = { sent: this.#received };
    this.#underway.add(call);
    return call;
  }

  ended(call: { readonly sent: number }): void {
    this.#underway.delete(call);
  }

  /**
   * Tells whether the store has lost writes, by a run that it gave: the run overlaps a run that is kept, or is before one that was kept when the
   * call was sent. Answers to calls that were under way at the same time may come in any order.
   *
   * @param call the call that got the run; without it, the run was got after everything that is kept
   */
  contradict(first: bigint, end: bigint, step: number, call = { sent: this.#received }): boolean {
    if (this.#direction !== Math.sign(step)) return false;
    return this.#runs.some((run) => {
      const isBefore = further(run.end, first, step) !== first;
      const isOverlapping = isBefore && further(end, run.first, step) !== run.first;
      return isOverlapping || (isBefore && run.received <= call.sent);
    });
  }

  keep(first: bigint, end: bigint, step: number): void {
    const direction = Math.sign(step);
    if (this.#direction !== direction) this.forget();
    this.#direction = direction;
    this.#runs.push({ first, end, received: ++this.#received });
    while (this.#joinEarliest()) {}
  }

  /**
   * Lets go of the numbers from `first` on, which are about to be given back. This is never undone: when the answer is lost, nobody knows whose
   * they are.
   *
   * @returns false if the process keeps later ones. Then the store has no reason to take these, and nothing is changed.
   */
  letGo(first: bigint, end: bigint, step: number): boolean {
    if (this.#direction !== Math.sign(step)) return true;
    if (this.end !== undefined && further(this.end, end, step) !== end) return false;
    for (const run of this.#runs) if (further(run.end, first, step) === run.end) run.end = first;
    this.#runs = this.#runs.filter(
      (run) => run.first !== run.end && further(run.first, run.end, step) === run.end,
    );
    return true;
  }

  /** Forgets everything, for calls under way, too. */
  forget(): void {
    this.#runs = [];
    this.#direction = 0;
  }

  /**
   * Joins the earliest two runs, if they are one run, or if there are too many. Not while a call is under way that was sent before the second
   * one came: its answer may lie before that run.
   */
  #joinEarliest(): boolean {
    const [one, two, ...rest] = this.#runs;
    if (one === undefined || two === undefined) return false;
    if (one.end !== two.first && this.#runs.length <= MOST_RUNS) return false;
    for (const { sent } of this.#underway) if (sent < two.received) return false;
    const first = further(one.first, two.first, this.#direction) === one.first ? two.first : one.first;
    this.#runs = [{ first, end: this.#endOf([one, two]) as bigint, received: two.received }, ...rest];
    return true;
  }

  #endOf(runs: readonly Run[]): bigint | undefined {
    return runs
      .map((run) => run.end)
      .reduce<bigint | undefined>(
        (last, end) => (last === undefined ? end : further(last, end, this.#direction)),
        undefined,
      );
  }
}
