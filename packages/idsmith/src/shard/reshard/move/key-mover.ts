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
import { INCOMING_KEY, OUTGOING_KEY } from '../reserved-keys.js';
import {
  allOf,
  eachLetter,
  type MoveBatch,
  type MoveResult,
  numberOf,
  type TakenValue,
  text,
  ttlNow,
} from './move-batch.js';
import { StalePhaseError } from './stale-phase-error.js';

/** The approximate number of bytes of values in one round trip. */
const MAX_BYTES = 512 * 1024;

/** A hook for tests that runs after each of the five steps. */
export type AfterStep = (step: 'claimed' | 'taken' | 'put' | 'dropped' | 'settled') => unknown;

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
  #count = 0;
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
      ...{ keys, claims: new Map(), takes: new Map(), putNumber: 0, dropNumber: 0 },
      ...{ values: new Map(), occupied: new Set(), orphans: [], done: [] },
      result: { keys: 0, bytes: 0, superseded: 0, again: [], lost: [] },
    };
    await this.#claim(batch);
    await this.#afterStep('claimed');
    await this.#take(batch);
    await this.#afterStep('taken');
    await this.#put(batch);
    await this.#afterStep('put');
    await this.#secure(batch);
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
    const found = new Set<RedisKey>();
    await this.#run(source, 'looking for keys', FIND_KEYS, OUTGOING_KEY, keys, (group, run) =>
      run(() => []).then(([letters]) =>
        eachLetter(group, letters, (key, letter) => {
          if (letter === 'h') found.add(key);
        }),
      ),
    );
    return keys.filter((key) => found.has(key));
  }

  async #claim({ target, keys, claims, occupied }: MoveBatch): Promise<void> {
    const name = this.#nextName();
    await this.#run(target, 'claiming keys', CLAIM_KEYS, INCOMING_KEY, keys, async (group, run) => {
      const [number, letters] = await run(() => [name, OUTGOING_KEY]);
      eachLetter(group, letters, (key, letter) => {
        claims.set(key, text(number));
        if (letter === 't') occupied.add(key);
      });
    });
  }

  async #take(batch: MoveBatch): Promise<void> {
    const { source, keys, takes, values, orphans, done, result } = batch;
    const name = this.#nextName();
    await this.#run(source, 'reading keys', TAKE_KEYS, OUTGOING_KEY, keys, async (group, run) => {
      const [number, letters, rows, all] = await run(() => [name, MAX_BYTES]);
      const nextRow = text(rows).split('\n').values();
      let at = 0;
      eachLetter(group, letters, (key, letter) => {
        takes.set(key, text(number));
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
          values.set(key, { value, ttl, digest, expiry, takenAt: performance.now() });
        }
      });
    });
  }

  async #put(batch: MoveBatch): Promise<void> {
    const { target, claims, values, occupied, result } = batch;
    const keys = [...values.keys()].filter((key) => !occupied.has(key));
    const lose = (key: RedisKey) => {
      result.lost.push(key);
      values.delete(key);
    };
    await this.#run(target, 'writing keys', PUT_KEYS, INCOMING_KEY, keys, async (group, run) => {
      const rows = group.map((key) => values.get(key) as TakenValue);
      const sizes = () => rows.map((row) => `${row.value.length} ${ttlNow(row)}`).join('\n');
      const all = Buffer.concat(rows.map(({ value }) => value));
      const [letters, error, number] = await run(() => [numberOf(claims, group), sizes(), all]);
      if (String(error ?? '') !== '')
        throw new StoreError(`node ${target.name}: writing keys failed: ${text(error)}`);
      batch.putNumber = Number(number ?? 0);
      eachLetter(group, letters, (key, letter) => {
        if (letter === 't') occupied.add(key);
        if (letter === 'l') lose(key);
      });
    });
  }

  /** Waits until copies would survive a crash. A cluster may have elected a master meanwhile that does not have them. */
  async #secure({ target, claims, values, occupied, putNumber, result }: MoveBatch): Promise<void> {
    if (putNumber > 0) await this.#makeDurable?.(target);
    if (!target.isCluster) return;
    const copied = [...values.keys()].filter((key) => !occupied.has(key));
    await allOf(
      target.groupsOf(copied).map(async (group) => {
        const entries = await target.entriesOf(INCOMING_KEY, group);
        for (const [i, key] of group.entries())
          if (!entries[i]?.startsWith(`${claims.get(key)}! `)) {
            result.lost.push(key);
            values.delete(key);
          }
      }),
    );
  }

  async #drop(batch: MoveBatch): Promise<void> {
    const { source, target, takes, values, occupied, orphans, done, result } = batch;
    const keys = [...values.keys()];
    await this.#run(source, 'deleting keys', DROP_KEYS, OUTGOING_KEY, keys, async (group, run) => {
      const taken = group.map((key) => values.get(key) as TakenValue);
      const rows = taken.map(({ digest, expiry }) => `${digest} ${expiry}`).join('\n');
      const [letters, number] = await run(() => [numberOf(takes, group), rows, target.name, batch.putNumber]);
      batch.dropNumber = Number(number ?? 0);
      eachLetter(group, letters, (key, letter) => {
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
    });
  }

  async #settle(batch: MoveBatch): Promise<void> {
    const { source, target, claims, takes, occupied, orphans, done, dropNumber } = batch;
    const isListed = (key: RedisKey) => !occupied.has(key);
    const copied = new Set(orphans.filter(isListed));
    const keys = [...copied, ...done.filter(isListed)];
    // If another mover has claimed the copy of an orphan, that mover frees the orphan.
    const freed = orphans.filter((key) => occupied.has(key));
    await this.#run(target, 'settling keys', SETTLE_KEYS, INCOMING_KEY, keys, async (group, run) => {
      const fates = group.map((key) => (copied.has(key) ? 'd' : 'k')).join('');
      const [letters] = await run(() => [numberOf(claims, group), fates, source.name, dropNumber]);
      eachLetter(group, letters, (key, letter) => {
        if (letter === 's' && copied.has(key)) freed.push(key);
      });
    });
    await this.#run(source, 'settling keys', FREE_ORPHANS, OUTGOING_KEY, freed, (group, run) =>
      run(() => [numberOf(takes, group)]),
    );
  }

  /** Another name for each CLAIM and TAKE. */
  #nextName(): string {
    return `${this.#name}-${++this.#count}`;
  }

  /** Runs a script for each group of keys that the node can take together, and waits for all of them. */
  async #run(
    node: NodeConnection,
    operation: string,
    script: string,
    list: string,
    keys: readonly RedisKey[],
    use: (
      group: readonly RedisKey[],
      run: (args: () => readonly CommandPart[]) => Promise<unknown[]>,
    ) => Promise<unknown>,
  ): Promise<void> {
    const head = [this.#reshardId, this.#direction];
    await allOf(
      node.groupsOf(keys).map((group) =>
        use(group, async (args) => {
          const names = [...node.placeOf(list, group), ...group.map((key) => node.nameOf(key))];
          const reply = await node.run(operation, script, names, () => [...head, ...args()]);
          if (text(reply[0]) === STALE) throw new StalePhaseError(node, operation, reply);
          return reply;
        }),
      ),
    );
  }
}
