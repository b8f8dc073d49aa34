import { acquireLease, type Lease } from 'idsmith';
import { SeededRandom } from '../../simulation/random.ts';
import { Agenda } from './agenda.ts';
import { CountedStore, none, type Operations } from './counted-store.ts';
import { START } from './plan.ts';

/** How large a fleet to simulate. */
export interface ScaleOptions {
  readonly processes: number;
  readonly nodes: number;
  /** Milliseconds. */
  readonly ttl?: number;
  /** Whether the store reads pages. */
  readonly hasPages?: boolean;
  readonly seed?: number;
}

/** What the store was asked for in one part of the story. */
export interface Phase {
  readonly name: string;
  readonly seconds: number;
  readonly operations: Operations;
  /** The most operations in one second. */
  readonly peak: number;
  /** The processes with an active lease at the end. */
  readonly active: number;
}

const MINUTE = 60_000;
/** How long a process waits that found all node ids held, or the store away. */
const RETRY = 5 * MINUTE;

/** One process of the fleet: takes a lease, and another one when it is restarted. */
class Member {
  lease: Lease | undefined;
  readonly #fleet: Fleet;
  #isStopped = false;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
    void this.#acquire();
  }

  async #acquire(): Promise<void> {
    const { agenda, random, store, options } = this.#fleet;
    while (!this.#isStopped && !this.lease) {
      try {
        const lease = await acquireLease(store, {
          namespace: 'fleet',
          size: options.nodes,
          ttl: options.ttl ?? 30_000,
          label: '',
          clock: { now: () => agenda.now },
          timer: agenda,
          random,
        });
        if (this.#isStopped) await lease.release();
        else this.lease = lease;
      } catch {
        await new Promise<void>((resolve) => {
          agenda.after((RETRY * random.between(50, 150)) / 100, resolve);
        });
      }
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.lease?.release().catch(() => undefined);
  }
}

class Fleet {
  readonly options: ScaleOptions;
  readonly agenda = new Agenda(START);
  readonly random: SeededRandom;
  readonly counted = new CountedStore(this.agenda);
  readonly store;
  members: Member[] = [];

  constructor(options: ScaleOptions) {
    this.options = options;
    this.random = new SeededRandom(options.seed ?? 1);
    this.store = this.counted.client(options.hasPages ?? true);
  }

  get active(): Lease[] {
    return this.members.flatMap(({ lease }) => (lease?.state === 'active' ? [lease] : []));
  }

  /** Lets time pass, and counts. @throws Error when two processes have the same node id */
  async pass(name: string, ms: number): Promise<Phase> {
    const begin = this.agenda.now;
    await this.agenda.runTo(begin + ms);
    const operations = none();
    let peak = 0;
    for (let second = Math.floor(begin / 1000); second < Math.floor(this.agenda.now / 1000); second++) {
      const counts = this.counted.seconds.get(second) ?? none();
      for (const each of Object.keys(operations) as (keyof Operations)[]) operations[each] += counts[each];
      peak = Math.max(peak, counts.now + counts.list + counts.read + counts.swap);
    }
    const { active } = this;
    if (new Set(active.map(({ id }) => id)).size !== active.length)
      throw new Error('a node id is held twice');
    return { name, seconds: ms / 1000, operations, peak, active: active.length };
  }
}

/** The story of a fleet: all start at once, go on, are restarted one after another, and lose their store for ten minutes. */
export async function simulateScale(options: ScaleOptions): Promise<Phase[]> {
  const fleet = new Fleet(options);
  const { agenda, counted } = fleet;
  fleet.members = Array.from({ length: options.processes }, () => new Member(fleet));
  const phases = [await fleet.pass('all start at once', MINUTE)];
  phases.push(await fleet.pass('steady', 2 * MINUTE));
  const gap = (5 * MINUTE) / options.processes;
  for (const [i, member] of fleet.members.entries())
    agenda.after(i * gap, () => {
      void member.stop().then(() => {
        fleet.members[i] = new Member(fleet);
      });
    });
  phases.push(await fleet.pass('rolling restart', 6 * MINUTE));
  counted.isAway = true;
  phases.push(await fleet.pass('the store is away', 10 * MINUTE));
  counted.isAway = false;
  phases.push(await fleet.pass('the store is back', 2 * MINUTE));
  return phases;
}
