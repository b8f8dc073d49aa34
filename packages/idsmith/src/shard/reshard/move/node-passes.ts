import type { Parties, Route } from '../context.js';
import type { Wire } from '../node-connection.js';
import { type Places, scan } from '../plan/key-placement.js';
import { type Name, nameOf, textOf } from '../redis-key.js';
import { IN, OUT } from '../reserved-keys.js';
import type { Mover } from './key-mover.js';
import type { Tally } from './progress.js';
import type { Pace } from './rate-limit.js';

/** How many batches of one old node are under way at the same time. */
const CONCURRENT = 4;

/** How often a batch is tried whose keys are written all the while, before they are left for the next pass. */
const TRIES = 20;

/** How many leftovers are settled at a time. */
const LEFTOVERS = 100;

interface Work {
  readonly places: Places;
  readonly mover: Mover;
  readonly tally: Tally;
  readonly pace: Pace;
  readonly batch: number;
  readonly signal: AbortSignal | undefined;
}

/** Goes through all old nodes and moves what is to be moved. */
export class Passes {
  readonly #parties: Parties;
  readonly #work: Work;

  constructor(parties: Parties, work: Work) {
    this.#parties = parties;
    this.#work = work;
  }

  /**
   * One pass over all old nodes at the same time.
   *
   * @param isFirst whether what is found is counted
   * @returns how many keys there were to move
   */
  async run(isFirst: boolean): Promise<number> {
    const failed = new AbortController();
    const found = await Promise.allSettled(
      [...this.#parties.sources.values()].map((source) =>
        this.#clear(source, isFirst, failed.signal).catch((error) => {
          failed.abort();
          throw error;
        }),
      ),
    );
    const failure = found.find((outcome) => outcome.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
    return found.reduce((sum, outcome) => sum + (outcome as PromiseFulfilledResult<number>).value, 0);
  }

  async #clear(source: Wire, isFirst: boolean, failed: AbortSignal): Promise<number> {
    const { places, tally, batch, signal } = this.#work;
    if (isFirst) tally.expect(Number(await source.command('counting', 'DBSIZE')));
    const waiting = new Map<string, Name[]>();
    const lanes = new Lanes(CONCURRENT);
    let found = 0;
    try {
      for await (const keys of scan(source)) {
        const { leaving, leavingCount, stays, foreign } = places.sort(keys, source.name);
        if (isFirst) tally.scanned(stays, foreign, leavingCount);
        found += leavingCount;
        for (const [target, more] of leaving) {
          const gathered = [...(waiting.get(target) ?? []), ...more];
          while (gathered.length >= batch) {
            const next = gathered.splice(0, batch);
            await lanes.add(() => this.#move(source, target, next));
            signal?.throwIfAborted();
            if (failed.aborted) return found;
          }
          waiting.set(target, gathered);
        }
        signal?.throwIfAborted();
      }
      for (const [target, rest] of waiting)
        if (rest.length > 0) await lanes.add(() => this.#move(source, target, rest));
    } finally {
      await lanes.end();
    }
    lanes.check();
    return found;
  }

  async #move(source: Wire, target: string, batch: readonly Name[]): Promise<void> {
    const { mover, tally, pace } = this.#work;
    await pace.pass(batch.length);
    const route = this.#parties.route(source.name, target);
    // A key that comes twice would take itself away from itself.
    let keys = distinct(batch);
    for (let tries = 0; keys.length > 0 && tries < TRIES; tries++) {
      const moved = await mover.move(route, keys);
      tally.moved(source.name, target, moved);
      // Batches of large values are done in parts, however many.
      if (moved.again.length < keys.length) tries = -1;
      keys = moved.again;
    }
  }
}

function distinct(keys: readonly Name[]): Name[] {
  return [...new Map(keys.map((key) => [textOf(key), key])).values()];
}

/**
 * Settles what movers have left that were ended in the middle of it: keys that are on the list of a node.
 *
 * @returns how many there were
 */
export async function leftovers(parties: Parties, places: Places, mover: Mover): Promise<number> {
  let found = 0;
  for (const list of [IN, OUT])
    for (const wire of parties.all) {
      const reply = await wire.command('reading leftovers', 'HKEYS', list);
      const keys = (reply as Uint8Array[]).map(nameOf);
      found += keys.length;
      const byRoute = new Map<string, { route: Route; keys: Name[] }>();
      for (const key of keys) {
        const route = parties.routeOf(places.stemOf(key) ?? '');
        if (route === undefined) continue;
        const name = `${route.source.name} ${route.target.name}`;
        const entry = byRoute.get(name) ?? { route, keys: [] };
        byRoute.set(name, entry);
        entry.keys.push(key);
      }
      for (const { route, keys } of byRoute.values())
        for (let at = 0; at < keys.length; at += LEFTOVERS)
          await mover.move(route, keys.slice(at, at + LEFTOVERS));
    }
  return found;
}

/** So many things at a time. */
class Lanes {
  readonly #width: number;
  readonly #busy = new Set<Promise<void>>();
  #error: unknown;
  #hasFailed = false;

  constructor(width: number) {
    this.#width = width;
  }

  /** Begins it as soon as there is room. */
  async add(task: () => Promise<void>): Promise<void> {
    while (this.#busy.size >= this.#width) await Promise.race(this.#busy);
    this.check();
    const running = task()
      .catch((error) => {
        this.#error ??= error;
        this.#hasFailed = true;
      })
      .finally(() => this.#busy.delete(running));
    this.#busy.add(running);
  }

  async end(): Promise<void> {
    await Promise.all(this.#busy);
  }

  /** @throws what the first of them has thrown */
  check(): void {
    if (this.#hasFailed) throw this.#error;
  }
}
