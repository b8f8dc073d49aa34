import { setTimeout as sleep } from 'node:timers/promises';
import { type LeaseTerms, Minter, type Target } from './minter.ts';
import { anyOf, between, type Random } from './random.ts';
import { HOUR, MINTERS, NAMESPACE, NODE_IDS, TTL } from './settings.ts';

/** Who has written nothing for this long, ms, does not mint. */
const SILENCE_MS = 400;

/** All processes of a run, those that were killed included. */
export class Crew {
  readonly everyone: Minter[] = [];
  /** Those of them whose clocks are wrong by an hour, for good. */
  readonly misfits: Minter[] = [];
  /** What went wrong with processes that should not have ended, or should have. */
  readonly accidents: string[] = [];
  readonly #folder: string;
  readonly #target: Target;
  readonly #terms: LeaseTerms;
  readonly #random: Random;

  constructor(folder: string, target: Target, maxSkew: number, random: Random) {
    this.#folder = folder;
    this.#target = target;
    this.#terms = { namespace: NAMESPACE, size: NODE_IDS, ttl: TTL, maxSkew };
    this.#random = random;
    for (let i = 0; i < MINTERS; i++) this.hire();
    // Beside them, two whose clocks are wrong from the beginning.
    for (const offset of [HOUR, -HOUR]) this.misfits.push(this.#add(offset));
  }

  /** Another one, with a clock that is as wrong as is still right. */
  hire(): void {
    this.#add(Math.round(this.#terms.maxSkew * between(this.#random, -0.4, 0.4)));
  }

  #add(offset: number): Minter {
    const name = `minter-${this.everyone.length}`;
    // By turns, so that neither family has enough processes to hold all node ids of the one namespace.
    const family = this.everyone.length % 2 === 0 ? 'flake' : 'locality';
    const minter = new Minter(this.#folder, name, family, this.#target, this.#terms, offset);
    this.everyone.push(minter);
    return minter;
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
