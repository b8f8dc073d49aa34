import { positionOf, type SequenceRow, wholeBlocks } from '../../../src/sequence/blocks.ts';
import { isLike } from '../../../src/sequence/rows.ts';

/** Tells whether the change of a row may have been an allocation by a swap. */
function isSwap(before: SequenceRow, after: SequenceRow): boolean {
  return isLike(after, before, ['next', 'mark', 'exhausted']) && before.mark !== after.mark;
}

/** Tells whether no block was left in a round of a cycle. */
const isRoundOver = (row: SequenceRow) => wholeBlocks(row, positionOf(row)) === 0n;

/** All ids that were handed out, and all that the store has granted: no id is handed out more often than it was granted. */
export class Ledger {
  /** What was wrong with the first id that was. */
  violation: string | undefined;
  /** The number of ids that were handed out. */
  size = 0;
  /** How often an id may be granted: once in each life of the sequence, and once more for each round of a cycle. */
  #lives = 0;
  readonly #granted = new Map<bigint, number>();
  readonly #handedOut = new Map<bigint, number>();

  /** Whom an id was granted to last. */
  #owners = new Map<bigint, string>();
  readonly #note: (what: string) => void;

  /** @param note is told of every move and of every id */
  constructor(note: (what: string) => void) {
    this.#note = note;
  }

  /** Takes down that the sequence was defined. Tails from before must not come back. */
  beginLife(): void {
    this.#lives++;
    this.#owners.clear();
  }

  /** Takes down that a request of `process` has moved the row of the sequence. */
  moved(before: SequenceRow, after: SequenceRow, process: string): void {
    this.#note(
      `${process} moves the row from ${before.next} to ${after.next}${after.exhausted ? ', exhausted' : ''}`,
    );
    const direction = before.step > 0 ? 1n : -1n;
    const distance = (after.next - before.next) * direction;
    const isRound = distance < 0n || (isSwap(before, after) && (distance === 0n || isRoundOver(before)));
    if (after.cycle && isRound) this.#beginRound(before, after, direction);
    else if (distance >= 0n) this.#grant(before.next, distance, direction, process);
    else this.#takeBack(after.next, -distance, direction, process);
  }

  /** A cycle grants what was left of a round, and the beginning of the next round; all of it, if it ends where it began. */
  #beginRound(before: SequenceRow, after: SequenceRow, direction: bigint): void {
    const [origin, end] = direction > 0n ? [after.min, after.max] : [after.max, after.min];
    this.#grant(before.next, (end - before.next) * direction + 1n, direction, 'a cycle');
    const isWhole = after.next === origin && isRoundOver(before);
    this.#lives += isWhole ? 2 : 1;
    this.#grant(
      origin,
      ((isWhole ? end : after.next) - origin) * direction + (isWhole ? 1n : 0n),
      direction,
      'a cycle',
    );
  }

  /** Takes down what a process got in one call. */
  enter(ids: readonly bigint[], process: string): void {
    this.#note(`${process} got ${ids.join(' ')}`);
    for (const id of ids) {
      this.size++;
      const times = (this.#handedOut.get(id) ?? 0) + 1;
      this.#handedOut.set(id, times);
      if (times > this.#lives) this.#complain(`${process} got ${id}, which was handed out before`);
      this.#compare(id, `handed out to ${process}`);
    }
  }

  #grant(first: bigint, count: bigint, direction: bigint, process: string): void {
    for (let i = 0n; i < count; i++) {
      const id = first + i * direction;
      this.#granted.set(id, (this.#granted.get(id) ?? 0) + 1);
      this.#owners.set(id, process);
    }
  }

  #takeBack(first: bigint, count: bigint, direction: bigint, process: string): void {
    for (let i = 0n; i < count; i++) {
      const id = first + i * direction;
      const owner = this.#owners.get(id);
      if (owner !== process) this.#complain(`${process} gave back ${id}, which ${owner ?? 'nobody'} has`);
      this.#granted.set(id, (this.#granted.get(id) ?? 0) - 1);
      this.#compare(id, 'given back');
    }
  }

  #compare(id: bigint, what: string): void {
    const [used, granted] = [this.#handedOut.get(id) ?? 0, this.#granted.get(id) ?? 0];
    if (used > granted)
      this.#complain(`${id} was ${what}: it was granted ${granted} times, and handed out ${used} times`);
  }

  #complain(what: string): void {
    this.violation ??= what;
  }
}
