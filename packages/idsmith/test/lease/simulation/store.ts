import type { LeaseRecord } from 'idsmith';
import { STORE_NAMESPACE } from '../../../src/lease/namespace.ts';
import { sameRecord } from '../../../src/lease/port.ts';
import { foundedBirth, NAMESPACE_ID } from '../../../src/lease/protocol.ts';
import { COVERED_LOSS } from '../../../src/lineage/ceiling.ts';
import type { Timeline } from '../../simulation/timeline.ts';

export interface StoreTraits {
  readonly durable: boolean;
  readonly hasClock: boolean;
  readonly maxTtl: number;
  /** How many node ids it reads at once; 0 if it can only list all of them. */
  readonly pageSize: number;
  /** Whether it tells its lineage. Then it may go back to an earlier state, too. */
  readonly tellsLineage: boolean;
}

type Records = Map<number, LeaseRecord>;

/** The one store that all processes share. What it does wrong in sabotaged runs is done in a subclass. */
export class SimulatedStore {
  readonly traits: StoreTraits;
  /** How far its clock is ahead of the time, ms. */
  offset = 0;
  isUp = true;
  /** The records of the one namespace of all processes, and those of the store itself. */
  protected records: Records = new Map();
  #own: Records = new Map();
  /** What it had at earlier times, oldest first. */
  #history: { readonly at: number; readonly records: Records; readonly own: Records }[] = [];
  #lives = 0;
  readonly #timeline: Timeline;

  constructor(traits: StoreTraits, timeline: Timeline) {
    this.traits = traits;
    this.#timeline = timeline;
    // Older than any loss.
    if (traits.tellsLineage)
      this.#own.set(NAMESPACE_ID, foundedBirth('first', this.lineage, traits.maxTtl, 0));
    this.#keepHistory();
  }

  now(): number {
    return this.#timeline.now + this.offset;
  }

  get lineage(): string | undefined {
    return this.traits.tellsLineage ? `life ${this.#lives}` : undefined;
  }

  list(namespace: string): LeaseRecord[] {
    return [...(namespace === STORE_NAMESPACE ? this.#own : this.records).values()];
  }

  /** Swaps a record of a process, or one of the store's own. */
  swapIn(namespace: string, expected: LeaseRecord | undefined, next: LeaseRecord): boolean {
    if (this.traits.tellsLineage && next.id === NAMESPACE_ID && next.label !== this.lineage) return false;
    const isDone = namespace === STORE_NAMESPACE ? this.#swapOwn(expected, next) : this.swap(expected, next);
    if (isDone) this.#keepHistory();
    return isDone;
  }

  /** Swaps a record if the namespace's own record is `birth`, and has the store's lineage. */
  claim(
    namespace: string,
    expected: LeaseRecord | undefined,
    next: LeaseRecord,
    birth: LeaseRecord,
  ): boolean {
    return this.isCurrent(birth) && this.swapIn(namespace, expected, next);
  }

  protected isCurrent(birth: LeaseRecord): boolean {
    const isPresent = !this.traits.tellsLineage || birth.label === this.lineage;
    return isPresent && sameRecord(this.records.get(birth.id), birth);
  }

  protected swap(expected: LeaseRecord | undefined, next: LeaseRecord): boolean {
    if (!this.isAsExpected(this.records.get(next.id), expected)) return false;
    this.records.set(next.id, next);
    return true;
  }

  protected isAsExpected(current: LeaseRecord | undefined, expected: LeaseRecord | undefined): boolean {
    return sameRecord(current, expected);
  }

  #swapOwn(expected: LeaseRecord | undefined, next: LeaseRecord): boolean {
    if (!sameRecord(this.#own.get(next.id), expected)) return false;
    this.#own.set(next.id, next);
    return true;
  }

  /** It has gone down, and is about to come back. */
  restart(): void {
    if (this.traits.durable) return;
    this.records.clear();
    this.#own.clear();
    this.#lives++;
  }

  /** It goes on with what it had `ms` ago, as by the promotion of a replica that is behind. */
  goBack(ms: number): void {
    const time = this.#timeline.now - ms;
    const { records, own } = this.#history.findLast(({ at }) => at <= time) ?? this.#history[0]!;
    this.records = new Map(records);
    this.#own = new Map(own);
    this.#lives++;
    this.#keepHistory();
  }

  #keepHistory(): void {
    if (!this.traits.tellsLineage) return;
    const { now } = this.#timeline;
    this.#history.push({ at: now, records: new Map(this.records), own: new Map(this.#own) });
    // The first one that is older than any loss stays.
    while (this.#history.length > 1 && this.#history[1]!.at < now - COVERED_LOSS) this.#history.shift();
  }
}
