import { StoreError } from '../../errors.js';
import { show } from '../../options.js';
import { type Name, textOf } from './name.js';
import type { Route } from './parties.js';
import { IN, OUT, STATE } from './state.js';
import { CLAIM, DROP, FREE, LOOK, PUT, SETTLE, TAKE } from './step-scripts.js';
import type { Wire, Word } from './wire.js';

/** How many bytes of values one round trip carries, about. */
const BYTES = 512 * 1024;

/** What became of keys. */
export interface Moved {
  keys: number;
  /** Of their values, as they were sent. */
  bytes: number;
  /** Dropped on the old owner, since the new one has a value that did not come from there. */
  superseded: number;
  /** Not done: the key was written meanwhile, or comes in the next round trip, and may be tried again at once. */
  again: Name[];
  /** Not done: somebody else is moving them. */
  lost: Name[];
}

/** Where tests stop the mover: after each of its round trips. */
export type Between = (step: 'claimed' | 'taken' | 'put' | 'dropped' | 'settled') => unknown;

interface Taken {
  readonly value: Uint8Array;
  readonly ttl: number;
  readonly digest: string;
  readonly expiry: string;
}

type Row = 'absent' | 'orphan' | 'later' | Taken;

/** Moves keys from old owners to new ones, a batch of one route at a time. Any number of them may move the same keys. */
export class Mover {
  readonly #move: string;
  readonly #name = crypto.randomUUID().slice(0, 8);
  readonly #between: Between;

  constructor(move: string, between: Between = () => {}) {
    this.#move = move;
    this.#between = between;
  }

  /**
   * @throws StoreError naming the node that failed. Every key is then where it was, or moved, or in a state that the
   *   next mover goes on from.
   */
  async move({ source, target }: Route, keys: readonly Name[]): Promise<Moved> {
    const moved: Moved = { keys: 0, bytes: 0, superseded: 0, again: [], lost: [] };
    const claims = await this.#run(target, 'claiming keys', CLAIM, IN, keys, [this.#name]);
    await this.#between('claimed');
    const claim = text(claims[0]);
    const isTaken = new Set(keys.filter((_, i) => text(claims[i + 1]) === 'taken'));

    const takings = await this.#run(source, 'reading keys', TAKE, OUT, keys, [this.#name, BYTES]);
    const received = performance.now();
    await this.#between('taken');
    const taking = text(takings[0]);
    const rows = new Map(keys.map((key, i) => [key, rowOf(takings[i + 1])]));
    const taken = keys.filter((key) => typeof rows.get(key) === 'object');
    const rowAt = (key: Name) => rows.get(key) as Taken;

    const absent = keys.filter((key) => rows.get(key) === 'absent');
    const orphans = keys.filter((key) => rows.get(key) === 'orphan');
    moved.again.push(...keys.filter((key) => rows.get(key) === 'later'));

    const free = taken.filter((key) => !isTaken.has(key));
    const since = performance.now() - received;
    const puts = await this.#run(target, 'writing keys', PUT, IN, free, [
      claim,
      ...free.flatMap((key) => [ttlOf(rowAt(key), since), rowAt(key).value]),
    ]);
    await this.#between('put');
    free.forEach((key, i) => {
      const put = puts[i];
      if (Array.isArray(put)) throw refused(target, key, put);
      if (text(put) === 'taken') isTaken.add(key);
      if (text(put) === 'lost') moved.lost.push(key);
    });

    const isLost = new Set(moved.lost);
    const held = taken.filter((key) => !isLost.has(key));
    const drops = await this.#run(source, 'deleting keys', DROP, OUT, held, [
      taking,
      ...held.flatMap((key) => [rowAt(key).digest, rowAt(key).expiry]),
    ]);
    await this.#between('dropped');
    const dropped: Name[] = [];
    held.forEach((key, i) => {
      const verdict = text(drops[i]);
      if (verdict === 'changed') moved.again.push(key);
      else if (verdict === 'lost') moved.lost.push(key);
      else if (verdict === 'orphan') orphans.push(key);
      else {
        dropped.push(key);
        if (isTaken.has(key)) moved.superseded++;
        else {
          moved.keys++;
          moved.bytes += rowAt(key).value.length;
        }
      }
    });
    await this.#settle(
      { source, target },
      { claim, taking, isTaken, orphans, done: [...dropped, ...absent] },
    );
    await this.#between('settled');
    return moved;
  }

  /** Which of the keys their old owner has, or may still give. `undefined` if this resharding is not under way there. */
  async look(source: Wire, keys: readonly Name[]): Promise<Name[] | undefined> {
    const here = await source.run('looking for keys', LOOK, [STATE, OUT, ...keys], [this.#move]);
    return isStale(here) ? undefined : keys.filter((_, i) => Number(here[i]) === 1);
  }

  async #settle(
    { source, target }: Route,
    step: {
      readonly claim: string;
      readonly taking: string;
      readonly isTaken: ReadonlySet<Name>;
      readonly orphans: readonly Name[];
      readonly done: readonly Name[];
    },
  ): Promise<void> {
    const { claim, taking, isTaken, orphans } = step;
    const isListed = (key: Name) => !isTaken.has(key);
    const [lone, done] = [orphans.filter(isListed), step.done.filter(isListed)];
    const fates = [...lone.map(() => 'drop'), ...done.map(() => 'keep')];
    const settled = await this.#run(
      target,
      'settling keys',
      SETTLE,
      IN,
      [...lone, ...done],
      [claim, ...fates],
    );
    // An orphan whose copy somebody else has claimed is theirs to free.
    const freed = [
      ...orphans.filter((key) => isTaken.has(key)),
      ...lone.filter((_, i) => text(settled[i]) === 'settled'),
    ];
    await this.#run(source, 'settling keys', FREE, OUT, freed, [taking]);
  }

  async #run(
    wire: Wire,
    what: string,
    script: string,
    list: string,
    keys: readonly Name[],
    args: readonly Word[],
  ): Promise<unknown[]> {
    if (keys.length === 0) return [];
    const reply = await wire.run(what, script, [STATE, list, ...keys], [this.#move, ...args]);
    if (isStale(reply))
      throw new StoreError(`node ${wire.name}: ${what} failed: another resharding has begun there`);
    return reply;
  }
}

const isStale = (reply: readonly unknown[]) => reply.length === 1 && text(reply[0]) === 'stale';

const text = (reply: unknown) => String(reply);

function rowOf(row: unknown): Row {
  if (!Array.isArray(row)) return text(row) as Row;
  const [value, ttl, digest, expiry] = row;
  return { value, ttl: Number(ttl), digest: text(digest), expiry: text(expiry) };
}

/** What is left of the TTL after `since` ms; 0 is none, which is why one that is over is 1. */
function ttlOf({ ttl }: Taken, since: number): number {
  return ttl < 0 ? 0 : Math.max(1, Math.round(ttl - since));
}

function refused(target: Wire, key: Name, [reason]: readonly unknown[]): StoreError {
  const name = show(textOf(key));
  return new StoreError(`node ${target.name}: writing the key ${name} failed: ${text(reason)}`);
}
