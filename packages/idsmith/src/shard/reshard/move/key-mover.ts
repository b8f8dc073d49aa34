import { StoreError } from '../../../errors.js';
import type { Route } from '../context.js';
import type { Wire, Word } from '../node-connection.js';
import type { Name } from '../redis-key.js';
import { IN, OUT, STATE } from '../reserved-keys.js';
import { CLAIM, DROP, FREE, LOOK, PUT, SETTLE, TAKE } from './key-mover-scripts.js';

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
  readonly ttl: string;
  readonly digest: string;
  readonly expiry: string;
}

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
    const reply = await source.run('looking for keys', LOOK, [STATE, OUT, ...keys], [this.#move]);
    const letters = text(reply[0]);
    return letters === STALE ? undefined : keys.filter((_, i) => letters[i] === 'h');
  }

  async #claim(batch: Batch): Promise<void> {
    const { target, keys, taken } = batch;
    const [number, letters] = await this.#run(target, 'claiming keys', CLAIM, IN, keys, [this.#name]);
    batch.claim = text(number);
    eachLetter(keys, letters, (key, letter) => {
      if (letter === 't') taken.add(key);
    });
  }

  async #take(batch: Batch): Promise<void> {
    const { source, keys, values, orphans, done, moved } = batch;
    const args = [this.#name, BYTES];
    const [number, letters, rows, all] = await this.#run(source, 'reading keys', TAKE, OUT, keys, args);
    batch.taking = text(number);
    batch.takenAt = performance.now();
    const nextRow = text(rows).split('\n').values();
    let at = 0;
    eachLetter(keys, letters, (key, letter) => {
      if (letter === 'a') done.push(key);
      else if (letter === 'o') orphans.push(key);
      else if (letter === 'l') moved.again.push(key);
      else {
        const [size, ttl, digest, expiry] = (nextRow.next().value as string).split(' ') as [
          string,
          ...[string, string, string],
        ];
        const value = (all as Uint8Array).subarray(at, at + Number(size));
        at += value.length;
        values.set(key, { value, ttl, digest, expiry });
      }
    });
  }

  async #put({ target, claim, takenAt, values, taken, moved }: Batch): Promise<void> {
    const keys = [...values.keys()].filter((key) => !taken.has(key));
    const rows = keys.map((key) => values.get(key) as Taken);
    const since = performance.now() - takenAt;
    const sizes = rows.map((row) => `${row.value.length} ${ttlOf(row, since)}`).join('\n');
    const all = Buffer.concat(rows.map(({ value }) => value));
    const args = [claim, sizes, all];
    const [letters, trouble] = await this.#run(target, 'writing keys', PUT, IN, keys, args);
    if (String(trouble ?? '') !== '')
      throw new StoreError(`node ${target.name}: writing keys failed: ${text(trouble)}`);
    eachLetter(keys, letters, (key, letter) => {
      if (letter === 't') taken.add(key);
      if (letter === 'l') {
        moved.lost.push(key);
        values.delete(key);
      }
    });
  }

  async #drop({ source, taking, values, taken, orphans, done, moved }: Batch): Promise<void> {
    const keys = [...values.keys()];
    const rows = [...values.values()].map(({ digest, expiry }) => `${digest} ${expiry}`).join('\n');
    const [letters] = await this.#run(source, 'deleting keys', DROP, OUT, keys, [taking, rows]);
    eachLetter(keys, letters, (key, letter) => {
      if (letter === 'c') moved.again.push(key);
      else if (letter === 'l') moved.lost.push(key);
      else if (letter === 'o') orphans.push(key);
      else {
        done.push(key);
        if (taken.has(key)) moved.superseded++;
        else {
          moved.keys++;
          moved.bytes += (values.get(key) as Taken).value.length;
        }
      }
    });
  }

  async #settle({ source, target, claim, taking, taken, orphans, done }: Batch): Promise<void> {
    const isListed = (key: Name) => !taken.has(key);
    const [lone, rest] = [orphans.filter(isListed), done.filter(isListed)];
    const fates = 'd'.repeat(lone.length) + 'k'.repeat(rest.length);
    const keys = [...lone, ...rest];
    const [letters] = await this.#run(target, 'settling keys', SETTLE, IN, keys, [claim, fates]);
    // An orphan whose copy somebody else has claimed is theirs to free.
    const isFree = (_: Name, i: number) => text(letters)[i] === 's';
    const freed = [...orphans.filter((key) => taken.has(key)), ...lone.filter(isFree)];
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
    if (reply.length === 1 && text(reply[0]) === STALE)
      throw new StoreError(`node ${wire.name}: ${what} failed: another resharding has begun there`);
    return reply;
  }
}

/** What a script says that is not to be run. */
const STALE = 'stale';

const text = (reply: unknown) => String(reply ?? '');

function eachLetter(keys: readonly Name[], letters: unknown, see: (key: Name, letter: string) => void): void {
  const all = text(letters);
  keys.forEach((key, i) => {
    see(key, all[i] as string);
  });
}

/** What is left of the TTL after `since` ms; 0 is none, which is why one that is over is 1. */
function ttlOf({ ttl }: Taken, since: number): number {
  return Number(ttl) < 0 ? 0 : Math.max(1, Math.round(Number(ttl) - since));
}
