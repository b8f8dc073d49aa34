import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Minter, type MinterEvent, type MinterTask } from './minter.ts';
import { anyOf, between, type Random } from './random.ts';
import { HOUR, MINTERS, NAMESPACE, NODE_IDS, TTL } from './settings.ts';
import type { ChaosStore } from './stores.ts';

/** A process is up and waits within this time, ms. */
const START_MS = 60_000;
/** Who has written nothing for this long, ms, does not mint. */
const SILENCE_MS = 400;
/** So many processes are tried when one is to be copied. */
const COPY_TRIES = 20;

/** All processes of a run, those that were killed included. */
export class Crew {
  readonly everyone: Minter[] = [];
  /** Those of them whose clocks are wrong by an hour, for good. */
  readonly misfits: Minter[] = [];
  /** What went wrong with processes that should not have ended, or should have. */
  readonly accidents: string[] = [];
  readonly #folder: string;
  readonly #store: ChaosStore;
  readonly #maxSkew: number;
  readonly #random: Random;

  constructor(folder: string, store: ChaosStore, maxSkew: number, random: Random) {
    this.#folder = folder;
    this.#store = store;
    this.#maxSkew = maxSkew;
    this.#random = random;
  }

  /**
   * Starts the first processes. On a store that can forget, half of them have a lower limit. They start when the namespace has
   * the higher one, and are ready when they have seen it: who has not seen it would wait too short a time after a loss.
   *
   * @throws Error when they are not ready within `ms`
   */
  async start(ms: number): Promise<void> {
    const hasLimits = this.#store.long !== undefined;
    this.hire();
    if (hasLimits) await this.#until(() => this.mintingCount > 0, ms);
    const lowered: Minter[] = [];
    while (this.everyone.length < MINTERS)
      if (hasLimits && this.everyone.length % 4 < 2) lowered.push(this.#hire(false));
      else this.hire();
    // Beside them, two whose clocks are wrong from the beginning.
    for (const offset of [HOUR, -HOUR]) this.misfits.push(this.#add({ offset, ...this.#terms(true) }));
    await this.#until(() => lowered.every((minter) => minter.events().some(sawNamespace)), ms);
  }

  /** Another one, with a clock that is as wrong as is still right. */
  hire(): void {
    this.#hire(true);
  }

  #hire(isLong: boolean): Minter {
    const offset = Math.round(this.#maxSkew * between(this.#random, -0.4, 0.4));
    return this.#add({ offset, ...this.#terms(isLong) });
  }

  /** @param isLong whether with the longest leases that the store allows */
  #terms(isLong: boolean): Pick<MinterTask, 'target' | 'terms'> {
    const { target, ttl } = (isLong && this.#store.long) || { target: this.#store.target, ttl: TTL };
    return { target, terms: { namespace: NAMESPACE, size: NODE_IDS, ttl, maxSkew: this.#maxSkew } };
  }

  #add(task: Omit<MinterTask, 'family'> & Partial<Pick<MinterTask, 'family'>>): Minter {
    const name = `minter-${this.everyone.length}`;
    // By turns, so that neither family has enough processes to hold all node ids of the one namespace.
    const family = this.everyone.length % 2 === 0 ? 'flake' : 'locality';
    const minter = new Minter(this.#folder, name, { family, ...task });
    this.everyone.push(minter);
    return minter;
  }

  /** Copies a process: starts another one with the same memory, and both go on. The process is one that mints. */
  async copyOne(isTold: boolean): Promise<readonly [original: Minter, copy: Minter]> {
    for (let tries = 0; tries < COPY_TRIES; tries++) {
      const original = this.pick();
      const copy = await this.#copy(original, isTold);
      if (copy !== undefined) return [original, copy];
    }
    throw new Error(`no process had a lease when it was to be copied, ${COPY_TRIES} times`);
  }

  /** `undefined` when the process loses its lease before it is copied: others may hold all node ids from then on. */
  async #copy(original: Minter, isTold: boolean): Promise<Minter | undefined> {
    const continues = join(this.#folder, `minter-${this.everyone.length}.memory`);
    const copy = this.#add({ ...original.task, continues });
    // Only now, so that both are there while the record of the lease is still the same.
    await this.#until(() => copy.events().some(({ event }) => event === 'waiting'), START_MS);
    for (const begin = performance.now(); performance.now() - begin < 2 * TTL; ) {
      original.copyTo(continues, isTold);
      await sleep(100);
      if (existsSync(continues)) return copy;
    }
    await this.end(copy);
    return undefined;
  }

  async #until(isSo: () => boolean, ms: number): Promise<void> {
    for (const begin = performance.now(); !isSo(); await sleep(20))
      if (performance.now() - begin > ms) throw new Error(`processes were not ready within ${ms} ms`);
  }

  /** Those whose clocks were right when they began, and who are not in trouble already. */
  get #victims(): Minter[] {
    return this.everyone.filter((minter) => minter.isUp && !this.misfits.includes(minter));
  }

  /** Any process, one that mints if there is one. */
  pick(): Minter {
    const minting = this.#victims.filter((minter) => minter.hasMinted(SILENCE_MS));
    return anyOf(this.#random, minting.length > 0 ? minting : this.#victims);
  }

  get mintingCount(): number {
    return this.everyone.filter((minter) => minter.hasMinted(SILENCE_MS)).length;
  }

  /** How long it took, ms, until `count` processes minted at the same time; `undefined` if they did not within `ms`. */
  async waitUntilMinting(count: number, ms: number): Promise<number | undefined> {
    const begin = performance.now();
    // What was written before now does not count.
    await sleep(SILENCE_MS);
    while (performance.now() - begin < ms) {
      if (this.mintingCount >= count) return Math.round(performance.now() - begin);
      await sleep(50);
    }
    return undefined;
  }

  async end(minter: Minter): Promise<void> {
    const problem = await minter.end();
    if (problem !== undefined) this.accidents.push(problem);
  }

  /** Notes who ended without being told to, and has all others end. */
  async endAll(): Promise<void> {
    for (const { accident } of this.everyone) if (accident !== undefined) this.accidents.push(accident);
    await Promise.all(this.everyone.filter(({ isUp }) => isUp).map((minter) => this.end(minter)));
  }

  async killAll(): Promise<void> {
    await Promise.all(this.everyone.map((minter) => minter.kill()));
  }
}

/** True of an event that comes only after a look at the records of the namespace. */
function sawNamespace({ event, code }: MinterEvent): boolean {
  return event === 'acquired' || (event === 'refused' && code === 'LEASES_EXHAUSTED');
}
