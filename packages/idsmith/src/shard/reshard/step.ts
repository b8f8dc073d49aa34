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

/** Keys on their way, and what is known of them. */
interface Batch extends Route {
  readonly keys: readonly Name[];
  /** The number of the claim, and of the taking. */
  claim: string;
  taking: string;
  /** When the values were read, ms. */
  takenAt: number;
  readonly values: Map<Name, Taken>;
  /** Of which the new owner has a value that is no copy. */
  readonly taken: Set<Name>;
  /** Deleted on the old owner by somebody else after they were read: their copies have to go. */
  readonly orphans: Name[];
  /** Gone from the old owner: nothing is left but to strike them off the list. */
  readonly done: Name[];
  readonly moved: Moved;
}

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
  async move(route: Route, keys: readonly Name[]): Promise<Moved> {
    const batch: Batch = {
      ...route,
      ...{ keys, claim: '', taking: '', takenAt: 0 },
      ...{ values: new Map(), taken: new Set(), orphans: [], done: [] },
      moved: { keys: 0, bytes: 0, superseded: 0, again: [], lost: [] },
    };
    await this.#claim(batch);
    await this.#between('claimed');
    await this.#take(batch);
    await this.#between('taken');
    await this.#put(batch);
    await this.#between('put');
    await this.#drop(batch);
    await this.#between('dropped');
    await this.#settle(batch);
    await this.#between('settled');
    return batch.moved;
  }

  /** Which of the keys their old owner has, or may still give. `undefined` if this resharding is not under way there. */
  async look(source: Wire, keys: readonly Name[]): Promise<Name[] | undefined> {
    const here = await source.run('looking for keys', LOOK, [STATE, OUT, ...keys], [this.#move]);
    return isStale(here) ? undefined : keys.filter((_, i) => Number(here[i]) === 1);
  }

  async #claim(batch: Batch): Promise<void> {
    const { target, keys, taken } = batch;
    const [number, ...verdicts] = await this.#run(target, 'claiming keys', CLAIM, IN, keys, [this.#name]);
    batch.claim = text(number);
    keys.forEach((key, i) => {
      if (text(verdicts[i]) === 'taken') taken.add(key);
    });
  }

  async #take(batch: Batch): Promise<void> {
    const { source, keys, values, orphans, done, moved } = batch;
    const args = [this.#name, BYTES];
    const [number, ...rows] = await this.#run(source, 'reading keys', TAKE, OUT, keys, args);
    batch.taking = text(number);
    batch.takenAt = performance.now();
    keys.forEach((key, i) => {
      const row = rowOf(rows[i]);
      if (row === 'absent') done.push(key);
      else if (row === 'orphan') orphans.push(key);
      else if (row === 'later') moved.again.push(key);
      else values.set(key, row);
    });
  }

  async #put({ target, claim, takenAt, values, taken, moved }: Batch): Promise<void> {
    const keys = [...values.keys()].filter((key) => !taken.has(key));
    const since = performance.now() - takenAt;
    const args = keys.flatMap((key) => {
      const row = values.get(key) as Taken;
      return [ttlOf(row, since), row.value];
    });
    const verdicts = await this.#run(target, 'writing keys', PUT, IN, keys, [claim, ...args]);
    keys.forEach((key, i) => {
      const verdict = verdicts[i];
      if (Array.isArray(verdict)) throw refused(target, key, verdict);
      if (text(verdict) === 'taken') taken.add(key);
      if (text(verdict) === 'lost') {
        moved.lost.push(key);
        values.delete(key);
      }
    });
  }

  async #drop({ source, taking, values, taken, orphans, done, moved }: Batch): Promise<void> {
    const rows = [...values];
    const keys = rows.map(([key]) => key);
    const args = rows.flatMap(([, { digest, expiry }]) => [digest, expiry]);
    const verdicts = await this.#run(source, 'deleting keys', DROP, OUT, keys, [taking, ...args]);
    rows.forEach(([key, { value }], i) => {
      const verdict = text(verdicts[i]);
      if (verdict === 'changed') moved.again.push(key);
      else if (verdict === 'lost') moved.lost.push(key);
      else if (verdict === 'orphan') orphans.push(key);
      else {
        done.push(key);
        if (taken.has(key)) moved.superseded++;
        else {
          moved.keys++;
          moved.bytes += value.length;
        }
      }
    });
  }

  async #settle({ source, target, claim, taking, taken, orphans, done }: Batch): Promise<void> {
    const isListed = (key: Name) => !taken.has(key);
    const [lone, rest] = [orphans.filter(isListed), done.filter(isListed)];
    const fates = [...lone.map(() => 'drop'), ...rest.map(() => 'keep')];
    const verdicts = await this.#run(
      target,
      'settling keys',
      SETTLE,
      IN,
      [...lone, ...rest],
      [claim, ...fates],
    );
    // An orphan whose copy somebody else has claimed is theirs to free.
    const freed = [
      ...orphans.filter((key) => taken.has(key)),
      ...lone.filter((_, i) => text(verdicts[i]) === 'settled'),
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
