import type { LeaseRecord } from 'idsmith';
import { sameRecord } from '../../../src/lease/port.ts';
import type { Timeline } from '../../simulation/timeline.ts';

export interface StoreTraits {
  readonly durable: boolean;
  readonly hasClock: boolean;
  readonly maxTtl: number;
  /** How many node ids it reads at once; 0 if it can only list all of them. */
  readonly pageSize: number;
}

/** The one store that all processes share. What it does wrong in sabotaged runs is done in a subclass. */
export class SimulatedStore {
  readonly traits: StoreTraits;
  /** How far its clock is ahead of the time, ms. */
  offset = 0;
  isUp = true;
  protected records = new Map<number, LeaseRecord>();
  readonly #timeline: Timeline;

  constructor(traits: StoreTraits, timeline: Timeline) {
    this.traits = traits;
    this.#timeline = timeline;
  }

  now(): number {
    return this.#timeline.now + this.offset;
  }

  list(): LeaseRecord[] {
    return [...this.records.values()];
  }

  has(record: LeaseRecord): boolean {
    return sameRecord(this.records.get(record.id), record);
  }

  swap(expected: LeaseRecord | undefined, next: LeaseRecord): boolean {
    if (!this.isAsExpected(this.records.get(next.id), expected)) return false;
    this.records.set(next.id, next);
    return true;
  }

  protected isAsExpected(current: LeaseRecord | undefined, expected: LeaseRecord | undefined): boolean {
    return sameRecord(current, expected);
  }

  /** It has gone down, and is about to come back. */
  restart(): void {
    if (!this.traits.durable) this.records.clear();
  }
}
