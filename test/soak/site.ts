import { setTimeout as sleep } from 'node:timers/promises';
import { anyOf, between, type Random } from '../chaos/random.ts';
import { TTL } from '../chaos/settings.ts';
import type { IdArchive } from './id-archive.ts';
import type { FamilyName, SoakRecord } from './record.ts';
import type { SoakSetup, SoakStore } from './stores.ts';
import { Worker } from './worker.ts';
import type { Plant } from './worker-task.ts';

/** Who has handed out nothing for longer than this, ms, has waited. */
const WAIT_MS = 1000;
/** Between two looks at who mints, ms. */
const LOOK_MS = 200;

/** A store with the processes that mint from it, and the figures of both. */
export class Site {
  readonly name: string;
  readonly setup: SoakSetup;
  readonly store: SoakStore;
  readonly ids = new Map<FamilyName, number>();
  /** How often each fault was there. */
  readonly faults = new Map<string, number>();
  /** What went wrong with processes that should not have ended, or should have. */
  readonly accidents: string[] = [];
  waits = 0;
  /** The longest time, ms, in which a source handed out nothing of a family. */
  longestWait = 0;
  readonly #folder: string;
  readonly #random: Random;
  readonly #plant: Plant | undefined;
  readonly #sources: number;
  #workers: Worker[] = [];
  #number = 0;

  constructor(
    folder: string,
    name: string,
    setup: SoakSetup,
    store: SoakStore,
    options: { random: Random; processes: number; plant?: Plant | undefined },
  ) {
    this.name = name;
    this.setup = setup;
    this.store = store;
    this.#folder = folder;
    this.#random = options.random;
    this.#plant = options.plant;
    this.#sources = options.processes;
    // A store within a process has one process, with as many sources.
    const count = setup.isInProcess ? 1 : options.processes;
    for (let i = 0; i < count; i++) this.hire(setup.isInProcess ? options.processes : 1);
  }

  /** Another process, with a clock that is as wrong as is still right. */
  hire(members = 1): void {
    const { families, maxSkew } = this.setup;
    const offset = Math.round(maxSkew * between(this.#random, -0.4, 0.4));
    const plant = this.#number === 0 ? this.#plant : undefined;
    const task = { number: this.#number, target: this.store.target, members, families, offset, plant };
    this.#number += members;
    this.#workers.push(
      new Worker(this.#folder, this.name, { ...task, lease: { size: this.#sources, ttl: TTL, maxSkew } }),
    );
  }

  /** Any process that is up. */
  pick(): Worker {
    return anyOf(
      this.#random,
      this.#workers.filter(({ isUp }) => isUp),
    );
  }

  get pids(): number[] {
    return this.#workers.flatMap(({ pid }) => pid ?? []);
  }

  get total(): number {
    return [...this.ids.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Ends a process with SIGKILL, or in an orderly way. The caller hires another one. */
  async dismiss(worker: Worker, archive: IdArchive, how: 'kill' | 'end'): Promise<void> {
    // It may have crashed and be dismissed for that.
    if (!this.#workers.includes(worker)) return;
    this.#workers = this.#workers.filter((other) => other !== worker);
    const problem = how === 'kill' ? await worker.kill() : await worker.end();
    if (problem !== undefined) this.accidents.push(problem);
    this.#collectFrom(worker, archive);
    worker.forget();
  }

  /** Puts what was handed out since the last time into the archive, and replaces processes that ended by themselves. */
  async collect(archive: IdArchive): Promise<void> {
    for (const worker of this.#workers) {
      // While another one was replaced, this one may have been dismissed.
      if (!this.#workers.includes(worker)) continue;
      this.#collectFrom(worker, archive);
      const { accident } = worker;
      if (accident === undefined) continue;
      this.accidents.push(accident);
      await this.dismiss(worker, archive, 'kill');
      this.hire(worker.task.members);
    }
  }

  #collectFrom(worker: Worker, archive: IdArchive): void {
    archive.add(this.name, worker.readNew(), ({ family, source, waited }: SoakRecord) => {
      this.ids.set(family, (this.ids.get(family) ?? 0) + 1);
      const key = `${family} of source ${source}`;
      worker.minted.set(key, (worker.minted.get(key) ?? 0) + 1);
      if (waited > WAIT_MS) this.waits++;
      this.longestWait = Math.max(this.longestWait, waited);
    });
  }

  /**
   * Waits until every source mints every family, from now on. Returns those that do not within `ms`. Time in which this
   * process is held up does not count, because the ways to the stores lead through it.
   */
  async silentAfter(archive: IdArchive, ms: number): Promise<{ key: string; trouble: string }[]> {
    await this.collect(archive);
    const before = new Map(this.#workers.map((worker) => [worker, new Map(worker.minted)]));
    for (let waited = 0; ; waited += LOOK_MS) {
      const silent = this.#workers.flatMap((worker) =>
        keysOf(worker)
          .filter((key) => worker.minted.get(key) === before.get(worker)?.get(key))
          .map((key) => ({ worker, key })),
      );
      if (silent.length === 0) return [];
      if (waited >= ms) return silent.map(({ worker, key }) => ({ key, trouble: worker.troubleOf(key) }));
      await sleep(LOOK_MS);
      await this.collect(archive);
    }
  }

  async endAll(archive: IdArchive): Promise<void> {
    await this.collect(archive);
    await Promise.all(this.#workers.map((worker) => this.dismiss(worker, archive, 'end')));
  }

  /** Ends everything at once, also after a failure. */
  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.kill()));
    await this.store.stop();
  }
}

/** What a process has to mint. */
function keysOf({ task }: Worker): string[] {
  const sources = Array.from({ length: task.members }, (_, i) => task.number + i);
  return sources.flatMap((source) => task.families.map((family) => `${family} of source ${source}`));
}
