import { StoreError } from '../../../errors.js';
import type { CommandPart } from '../../../redis/client.js';
import { STALE } from '../../../redis/script-constants.js';
import {
  CLAIM_KEYS,
  DROP_KEYS,
  FIND_KEYS,
  FREE_ORPHANS,
  PUT_KEYS,
  SETTLE_KEYS,
  TAKE_KEYS,
} from '../../../redis/scripts.js';
import type { OwnerChange } from '../context.js';
import type { NodeConnection } from '../node-connection.js';
import type { RedisKey } from '../redis-key.js';
import { INCOMING_KEY, OUTGOING_KEY, STATE_KEY } from '../reserved-keys.js';
import { StalePhaseError } from './stale-phase-error.js';

/** The approximate number of bytes of values in one round trip. */
const MAX_BYTES = 512 * 1024;

/** The result of moving a batch of keys. */
export interface MoveResult {
  /** The number of keys that were moved. */
  keys: number;
  /** The size of their values, as sent. */
  bytes: number;
  /** The number of keys that were deleted on the source because the target has a value of its own. */
  superseded: number;
  /** Keys to try again at once: an application wrote them during the move, or they did not fit into the round trip. */
  again: RedisKey[];
  /** Keys that another mover is moving. */
  lost: RedisKey[];
}

/** A hook for tests that runs after each of the five steps. */
export type AfterStep = (step: 'claimed' | 'taken' | 'put' | 'dropped' | 'settled') => unknown;

/** A value as TAKE reads it. */
interface TakenValue {
  readonly value: Uint8Array;
  readonly ttl: string;
  readonly digest: string;
  readonly expiry: string;
}

/** Keys with the same owners, and their state between the steps. */
interface MoveBatch extends OwnerChange {
  readonly keys: readonly RedisKey[];
  /** The number that CLAIM gave. */
  claim: string;
  /** The number that TAKE gave. */
  take: string;
  /** The time of the TAKE, ms. */
  takenAt: number;
  /** The number of the PUT on the target and of the DROP on the source; 0 for none. */
  putNumber: number;
  dropNumber: number;
  readonly values: Map<RedisKey, TakenValue>;
  /** Keys for which the new owner has a value of its own. */
  readonly occupied: Set<RedisKey>;
  /** Keys that an application deleted on the old owner after a TAKE. Their copies have to be deleted. */
  readonly orphans: RedisKey[];
  /** Keys that are gone from the old owner. Only their entries in the list are left to remove. */
  readonly done: RedisKey[];
  readonly result: MoveResult;
}

/** The direction of a move: `out` to new owners, or `back` to old owners after the resharding was given up. */
export type Direction = 'out' | 'back';

/** The settings of a mover that have defaults. */
export interface KeyMoverOptions {
  /** A hook for tests that runs after each step. */
  readonly afterStep?: AfterStep | undefined;
  /** Waits until the copies on a target would survive a crash. By default nobody waits. */
  readonly makeDurable?: (target: NodeConnection) => Promise<void>;
  readonly direction?: Direction;
}

/** Moves keys from one owner to the other. Any number of movers may move the same keys at the same time. */
export class KeyMover {
  readonly #reshardId: string;
  readonly #name = crypto.randomUUID().slice(0, 8);
  readonly #afterStep: AfterStep;
  readonly #makeDurable: ((target: NodeConnection) => Promise<void>) | undefined;
  readonly #direction: Direction;

  constructor(reshardId: string, { afterStep, makeDurable, direction = 'out' }: KeyMoverOptions = {}) {
    this.#reshardId = reshardId;
    this.#afterStep = afterStep ?? (() => {});
    this.#makeDurable = makeDurable;
    this.#direction = direction;
  }

  /**
   * Moves keys with the same old and new owner.
   *
   * @throws StoreError naming the node that failed. The next mover then finishes the move of every key.
   */
  async move(change: OwnerChange, keys: readonly RedisKey[]): Promise<MoveResult> {
    const batch: MoveBatch = {
      ...change,
      ...{ keys, claim: '', take: '', takenAt: 0, putNumber: 0, dropNumber: 0 },
      ...{ values: new Map(), occupied: new Set(), orphans: [], done: [] },
      result: { keys: 0, bytes: 0, superseded: 0, again: [], lost: [] },
    };
    await this.#claim(batch);
    await this.#afterStep('claimed');
    await this.#take(batch);
    await this.#afterStep('taken');
    await this.#put(batch);
    await this.#afterStep('put');
    if (batch.putNumber > 0) await this.#makeDurable?.(batch.target);
    await this.#drop(batch);
    await this.#afterStep('dropped');
    await this.#settle(batch);
    await this.#afterStep('settled');
    return batch.result;
  }

  /**
   * Finds the keys that the source has, or that another mover has taken and not finished.
   *
   * @throws StalePhaseError if this resharding is not under way on the node
   */
  async findAtSource(source: NodeConnection, keys: readonly RedisKey[]): Promise<RedisKey[]> {
    const [letters] = await this.#run(source, 'looking for keys', FIND_KEYS, OUTGOING_KEY, keys, []);
    return keys.filter((_, i) => text(letters)[i] === 'h');
  }

  async #claim(batch: MoveBatch): Promise<void> {
    const { target, keys, occupied } = batch;
    const [number, letters] = await this.#run(target, 'claiming keys', CLAIM_KEYS, INCOMING_KEY, keys, [
      this.#name,
      OUTGOING_KEY,
    ]);
    batch.claim = text(number);
    eachLetter(keys, letters, (key, letter) => {
      if (letter === 't') occupied.add(key);
    });
  }

  async #take(batch: MoveBatch): Promise<void> {
    const { source, keys, values, orphans, done, result } = batch;
    const args = [this.#name, MAX_BYTES];
    const [number, letters, rows, all] = await this.#run(
      source,
      'reading keys',
      TAKE_KEYS,
      OUTGOING_KEY,
      keys,
      args,
    );
    batch.take = text(number);
    batch.takenAt = performance.now();
    const nextRow = text(rows).split('\n').values();
    let at = 0;
    eachLetter(keys, letters, (key, letter) => {
      if (letter === 'a') done.push(key);
      else if (letter === 'o') orphans.push(key);
      else if (letter === 'l') result.again.push(key);
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

  async #put(batch: MoveBatch): Promise<void> {
    const { target, claim, takenAt, values, occupied, result } = batch;
    const keys = [...values.keys()].filter((key) => !occupied.has(key));
    const rows = keys.map((key) => values.get(key) as TakenValue);
    const since = performance.now() - takenAt;
    const sizes = rows.map((row) => `${row.value.length} ${ttlAfter(row, since)}`).join('\n');
    const all = Buffer.concat(rows.map(({ value }) => value));
    const [letters, error, number] = await this.#run(target, 'writing keys', PUT_KEYS, INCOMING_KEY, keys, [
      claim,
      sizes,
      all,
    ]);
    if (String(error ?? '') !== '')
      throw new StoreError(`node ${target.name}: writing keys failed: ${text(error)}`);
    batch.putNumber = Number(number ?? 0);
    eachLetter(keys, letters, (key, letter) => {
      if (letter === 't') occupied.add(key);
      if (letter === 'l') {
        result.lost.push(key);
        values.delete(key);
      }
    });
  }

  async #drop(batch: MoveBatch): Promise<void> {
    const { source, target, take, values, occupied, orphans, done, result } = batch;
    const keys = [...values.keys()];
    const rows = [...values.values()].map(({ digest, expiry }) => `${digest} ${expiry}`).join('\n');
    const args = [take, rows, target.name, batch.putNumber];
    const [letters, number] = await this.#run(source, 'deleting keys', DROP_KEYS, OUTGOING_KEY, keys, args);
    batch.dropNumber = Number(number ?? 0);
    eachLetter(keys, letters, (key, letter) => {
      if (letter === 'c') result.again.push(key);
      else if (letter === 'l') result.lost.push(key);
      else if (letter === 'o') orphans.push(key);
      else {
        done.push(key);
        if (occupied.has(key)) result.superseded++;
        else {
          result.keys++;
          result.bytes += (values.get(key) as TakenValue).value.length;
        }
      }
    });
  }

  async #settle(batch: MoveBatch): Promise<void> {
    const { source, target, claim, take, occupied, orphans, done } = batch;
    const isListed = (key: RedisKey) => !occupied.has(key);
    const [copied, rest] = [orphans.filter(isListed), done.filter(isListed)];
    const fates = 'd'.repeat(copied.length) + 'k'.repeat(rest.length);
    const keys = [...copied, ...rest];
    const [letters] = await this.#run(target, 'settling keys', SETTLE_KEYS, INCOMING_KEY, keys, [
      claim,
      fates,
      source.name,
      batch.dropNumber,
    ]);
    // If another mover has claimed the copy of an orphan, that mover frees the orphan.
    const isSettled = (_: RedisKey, i: number) => text(letters)[i] === 's';
    const freed = [...orphans.filter((key) => occupied.has(key)), ...copied.filter(isSettled)];
    await this.#run(source, 'settling keys', FREE_ORPHANS, OUTGOING_KEY, freed, [take]);
  }

  async #run(
    node: NodeConnection,
    operation: string,
    script: string,
    list: string,
    keys: readonly RedisKey[],
    args: readonly CommandPart[],
  ): Promise<unknown[]> {
    if (keys.length === 0) return [];
    const head = [this.#reshardId, this.#direction];
    const reply = await node.run(operation, script, [STATE_KEY, list, ...keys], [...head, ...args]);
    if (text(reply[0]) === STALE) throw new StalePhaseError(node, operation, reply);
    return reply;
  }
}

const text = (reply: unknown) => String(reply ?? '');

function eachLetter(
  keys: readonly RedisKey[],
  letters: unknown,
  visit: (key: RedisKey, letter: string) => void,
): void {
  const all = text(letters);
  keys.forEach((key, i) => {
    visit(key, all[i] as string);
  });
}

/** The TTL that is left after `since` ms; 0 for a key without a TTL, and 1 for a TTL that is over. */
function ttlAfter({ ttl }: TakenValue, since: number): number {
  return Number(ttl) < 0 ? 0 : Math.max(1, Math.round(Number(ttl) - since));
}
