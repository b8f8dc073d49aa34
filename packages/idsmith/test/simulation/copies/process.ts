import type { Life, Simulation } from './simulation.ts';

type Ids = readonly (bigint | string)[];

/** A process that is copied once: until then its two bodies mint the same ids, and one of them counts. */
export class CopiedProcess {
  readonly name: string;
  readonly #original: Life;
  readonly #copy: Life;
  readonly #world: Simulation;
  #isCopied = false;
  /** Times that the copy leaves to its original. */
  #leavesUntil = Number.NEGATIVE_INFINITY;
  /** The ids that the bodies got so far, up to the copy. */
  readonly #minted: [string[], string[]] = [[], []];

  constructor(original: Life, copy: Life, world: Simulation) {
    this.name = original.body.machine.name;
    this.#original = original;
    this.#copy = copy;
    this.#world = world;
  }

  mint(count: number): void {
    this.#mintIn(this.#original, count);
    this.#mintIn(this.#copy, count);
  }

  #mintIn(life: Life, count: number): void {
    const { body, program } = life;
    if (!body.machine.isRunning) return;
    if (body.isAlone && body.machine.clock.now() < this.#leavesUntil) return;
    program.mint(count, (ids) => this.#enter(life, ids));
  }

  #enter(life: Life, ids: Ids): void {
    if (life === this.#original || life.body.isAlone) this.#world.enter(ids, life.body);
    if (this.#isCopied) return;
    const [one, other] = this.#minted;
    const own = life === this.#original ? one : other;
    const theirs = life === this.#original ? other : one;
    for (const id of ids) {
      const same = theirs[own.push(String(id)) - 1];
      if (same !== undefined && same !== String(id))
        this.#world.violation ??= `${this.name} and its second body are not the same: ${id} and ${same}`;
    }
  }

  /** Leaves the second body to itself: at once, or after a while as if restored then. Returns whether it could. */
  copy(): boolean {
    const { random, plan, timeline } = this.#world;
    const { body, program } = this.#copy;
    if (this.#isCopied || !program.isReady || !this.#original.program.isReady) return false;
    this.#isCopied = true;
    body.isAlone = true;
    body.later = random.between(1, 1_000_000) / 1e6;
    this.#leavesUntil = plan.hasHook ? Number.NEGATIVE_INFINITY : this.#sharedUntil();
    // A machine that is rolled back does not go on beside its copy.
    if (random.chance(0.3)) {
      this.#original.body.machine.die();
      this.#world.count('processes rolled back');
    }
    body.machine.stop();
    const wait = random.chance(0.3) ? 0 : random.between(0, 2 * plan.lease.ttl);
    timeline.after(wait, () => this.#restore());
    return true;
  }

  /** The end of the times that both may use, by the clock of the copy. */
  #sharedUntil(): number {
    const { plan, timeline } = this.#world;
    const { machine } = this.#copy.body;
    if (plan.family === 'sequence') return Number.NEGATIVE_INFINITY;
    // A UUIDv7 generator has random numbers in hand for one reading of the clock.
    if (plan.family === 'plain uuid7') return machine.clock.now() + 1;
    // A window, also one that was asked for before the copy, ends within a ttl. A clock may be off by the skew.
    return timeline.now + Math.abs(machine.offset) + plan.lease.ttl + 2 * plan.lease.maxSkew + 1;
  }

  #restore(): void {
    const { plan, random } = this.#world;
    const { body, program } = this.#copy;
    body.machine.continue(() => {
      // A restored machine has a random source of its own. Only names of leases must do without.
      if (plan.family === 'plain uuid7') body.reseed(random.between(1, 2 ** 31));
      if (plan.hasHook) program.afterRestore();
      this.mint(random.between(1, 12));
    });
  }

  /** Sets the clocks of both bodies, as time synchronisation does. */
  setClocks(): void {
    const { random, plan } = this.#world;
    const offset = random.between(-plan.lease.maxSkew, plan.lease.maxSkew);
    if (this.#isCopied) return;
    for (const { body } of [this.#original, this.#copy]) body.machine.offset = offset;
    this.#world.count('clocks set');
  }
}
