import { type LeaseRecord, type LeaseStore, StoreError } from 'idsmith';
import { OWN_IDS, sameRecord } from '../../../src/lease/port.ts';
import type { Agenda } from './agenda.ts';

/** The time of an operation and its answer, ms. */
const LATENCY = 5;

/** What a store was asked for in a while. */
export interface Operations {
  now: number;
  list: number;
  read: number;
  swap: number;
  /** The records in all listings and on all pages, and the node ids on all pages. */
  listed: number;
  onPages: number;
  ids: number;
}

export const none = (): Operations => ({ now: 0, list: 0, read: 0, swap: 0, listed: 0, onPages: 0, ids: 0 });

/** A store that keeps everything, counts what it is asked for in every second, and can be away. */
export class CountedStore {
  isAway = false;
  /** What it was asked for, by the second. */
  readonly seconds = new Map<number, Operations>();
  readonly #agenda: Agenda;
  readonly #records = new Map<number, LeaseRecord>();

  constructor(agenda: Agenda) {
    this.#agenda = agenda;
  }

  /** @param hasPages whether it reads pages, as the stores here do; one of a user may list all */
  client(hasPages: boolean): LeaseStore {
    const records = this.#records;
    const page = (first: number, count: number) => {
      const ids = [...OWN_IDS, ...Array.from({ length: count }, (_, i) => first + i)];
      this.#second.ids += ids.length;
      return ids.flatMap((id) => records.get(id) ?? []);
    };
    return {
      now: () => this.#ask('now', () => this.#agenda.now),
      listLeases: () => this.#ask('list', () => this.#counted('listed', [...records.values()])),
      ...(hasPages && {
        readLeases: (_: string, first: number, count: number) =>
          this.#ask('read', () => this.#counted('onPages', page(first, count))),
      }),
      swapLease: (_, expected, next) =>
        this.#ask('swap', () => {
          if (!sameRecord(records.get(next.id), expected)) return false;
          records.set(next.id, next);
          return true;
        }),
    };
  }

  get #second(): Operations {
    const second = Math.floor(this.#agenda.now / 1000);
    const found = this.seconds.get(second) ?? none();
    this.seconds.set(second, found);
    return found;
  }

  #counted(where: 'listed' | 'onPages', records: LeaseRecord[]): LeaseRecord[] {
    this.#second[where] += records.length;
    return records;
  }

  #ask<T>(what: 'now' | 'list' | 'read' | 'swap', execute: () => T): Promise<T> {
    this.#second[what]++;
    return new Promise((resolve, reject) => {
      const isAway = this.isAway;
      const result = isAway ? undefined : execute();
      this.#agenda.after(LATENCY, () => (isAway ? reject(new StoreError('away')) : resolve(result as T)));
    });
  }
}
