import { type CommandPart, StoreError } from 'idsmith/internal';
import { type PackedValue, packArray, unpackArrays } from '../redis/message-pack.js';
import { EVICTING, STALE } from '../redis/script-constants.js';
import {
  CLAIM_KEYS,
  DROP_KEYS,
  FIND_KEYS,
  FREE_ORPHANS,
  NOTE_STEP,
  PUT_KEYS,
  SETTLE_KEYS,
  TAKE_KEYS,
} from '../redis/scripts.js';
import { evictingError, type Persistence } from './checks.js';
import type { OwnerChange } from './context.js';
import type { NodeConnection } from './node-connection.js';
import type { ReshardPhase } from './node-state.js';
import type { AfterStep } from './options.js';
import { INCOMING_KEY, OUTGOING_KEY, type RedisKey, STATE_KEY } from './redis-keys.js';

/** The approximate number of bytes of values in one round trip. */
const MAX_BYTES = 512 * 1024;

/**
 * The number of values with one digest. A block with a value that was changed during the move is moved again, each of its keys on
 * its own.
 */
const BLOCK = 32;

/** The direction of a move: `out` to new owners, or `back` to old owners after the resharding was given up. */
export type Direction = 'out' | 'back';

/** The settings of a mover. */
interface KeyMoverOptions {
  /** A hook for tests that runs after each step. */
  readonly afterStep?: AfterStep | undefined;
  /** The persistence of the targets by address. The mover waits until copies would survive a crash. By default nobody waits. */
  readonly persistence?: ReadonlyMap<string, Persistence>;
  readonly direction?: Direction;
  /** The round of the resharding that the mover works in. */
  readonly round: number;
}

/** Moves keys from one owner to the other. Any number of movers may move the same keys at the same time. */
export class KeyMover {
  readonly #reshardId: string;
  readonly #name = crypto.randomUUID().slice(0, 8);
  #count = 0;
  readonly #afterStep: AfterStep;
  readonly #barrier: DurabilityBarrier;
  readonly #direction: Direction;
  readonly #round: number;

  constructor(
    reshardId: string,
    { afterStep, persistence = new Map(), direction = 'out', round }: KeyMoverOptions,
  ) {
    this.#reshardId = reshardId;
    this.#round = round;
    this.#afterStep = afterStep ?? (() => {});
    this.#barrier = new DurabilityBarrier(persistence);
    this.#direction = direction;
  }

  /** The number of batches of one old node that may be under way. */
  get concurrency(): number {
    return this.#barrier.concurrency;
  }

  /**
   * Moves keys with the same old and new owner.
   *
   * @param isRetry true to compare each value by itself, after a move with `hasChanged`
   * @throws StoreError naming the node that failed. The next mover then finishes the move of every key.
   */
  async move(change: OwnerChange, keys: readonly RedisKey[], isRetry = false): Promise<MoveResult> {
    const batch = newBatch(change, keys, isRetry ? 1 : BLOCK);
    await this.#claim(batch);
    await this.#afterStep('claimed');
    await this.#take(batch);
    await this.#afterStep('taken');
    // Sent before the copies are, on the same connection.
    const connections = this.#barrier.connections(batch.target);
    await allOf([this.#put(batch), connections]);
    await this.#afterStep('put');
    await this.#secure(batch, await connections);
    await this.#note(batch.source, `put:${batch.target.id}`, batch.putNumber);
    await this.#drop(batch);
    await this.#afterStep('dropped');
    await this.#note(batch.target, `drop:${batch.source.id}`, batch.dropNumber);
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
        eachLetter(group, text(letters), (key, letter) => {
          if (letter === LETTERS.here) found.add(key);
        }),
      ),
    );
    return keys.filter((key) => found.has(key));
  }

  async #claim({ target, keys, claims, occupied }: MoveBatch): Promise<void> {
    const name = this.#nextName();
    await this.#run(target, 'claiming keys', CLAIM_KEYS, INCOMING_KEY, keys, async (group, run, list) => {
      const [number, letters] = await run(() => [name, OUTGOING_KEY]);
      claims.set(list, text(number));
      if (isAll(LETTERS.free, text(letters))) return;
      eachLetter(group, text(letters), (key, letter) => {
        if (letter === LETTERS.value) occupied.add(key);
      });
    });
  }

  async #take(batch: MoveBatch): Promise<void> {
    const { source, keys, block, takes, values, orphans, done, result } = batch;
    const name = this.#nextName();
    await this.#run(source, 'reading keys', TAKE_KEYS, OUTGOING_KEY, keys, async (group, run, list) => {
      const reply = await run(() => [name, MAX_BYTES, block]);
      const [number, letters, blocks, digests, expiries, bytes, acceptsEviction] = reply;
      takes.set(list, text(number));
      batch.acceptsEviction = Number(acceptsEviction) === 1;
      const taken: RedisKey[] = [];
      const places: Record<string, RedisKey[]> = {
        [LETTERS.taken]: taken,
        [LETTERS.absent]: done,
        [LETTERS.orphan]: orphans,
        [LETTERS.notYet]: result.again,
      };
      const isWhole = isAll(LETTERS.taken, text(letters));
      if (!isWhole) eachLetter(group, text(letters), (key, letter) => places[letter]?.push(key));
      values.groups.push({
        keys: isWhole ? group : taken,
        blocks: blocks as Uint8Array,
        digests: text(digests),
        expiries: text(expiries),
        bytes: Number(bytes),
      });
    });
  }

  async #put(batch: MoveBatch): Promise<void> {
    const { target, claims, values, occupied, lost, acceptsEviction } = batch;
    const keys = occupied.size === 0 ? values.keys : values.keys.filter((key) => !occupied.has(key));
    await this.#run(target, 'writing keys', PUT_KEYS, INCOMING_KEY, keys, async (group, run, list) => {
      const { blocks, expiries } = values.payloadOf(group);
      const [letters, error, number] = await run(() => [
        claims.get(list) as string,
        blocks,
        expiries,
        acceptsEviction ? 1 : 0,
      ]);
      if (text(letters) === EVICTING)
        throw evictingError(target.address, text(error), 'The keys are still at their old owners');
      if (text(error) !== '')
        throw new StoreError(`node ${target.address}: writing keys failed: ${text(error)}`);
      batch.putNumber = Number(number);
      if (isAll(LETTERS.copy, text(letters))) return;
      eachLetter(group, text(letters), (key, letter) => {
        if (letter === LETTERS.value) occupied.add(key);
        if (letter === LETTERS.lost) lost.add(key);
      });
    });
  }

  /** Waits until copies would survive a crash. A cluster may have elected a master meanwhile that does not have them. */
  async #secure(batch: MoveBatch, connections: string): Promise<void> {
    const { target, claims, values, occupied, putNumber, lost } = batch;
    const isSafe = putNumber === 0 || (await this.#barrier.wait(target)) === connections;
    if (isSafe && !target.isCluster) return;
    const copied = values.keys.filter((key) => !occupied.has(key) && !lost.has(key));
    // The connection was made again: nobody knows about the copies. The keys are moved once more.
    if (!isSafe) for (const key of copied) lost.add(key);
    if (!isSafe) return;
    await allOf(
      target.groupsOf(copied).map(async (group) => {
        const entries = await target.entriesOf(INCOMING_KEY, group);
        const used = `${claims.get(target.placeOf(INCOMING_KEY, group)[1])}! `;
        for (const [i, key] of group.entries()) if (!text(entries[i]).startsWith(used)) lost.add(key);
      }),
    );
  }

  async #drop(batch: MoveBatch): Promise<void> {
    const { source, target, takes, values, occupied, lost, orphans, done, result } = batch;
    const drop = ({ keys, digests, expiries, bytes }: TakenGroup) =>
      this.#run(source, 'deleting keys', DROP_KEYS, OUTGOING_KEY, keys, async (group, run, list) => {
        const fates =
          lost.size === 0 ? '' : group.map((key) => (lost.has(key) ? FATES.keep : FATES.delete)).join('');
        const about = [digests, expiries, fates, target.id, batch.putNumber];
        const [letters, number] = await run(() => [takes.get(list) as string, ...about]);
        batch.dropNumber = Number(number);
        if (occupied.size === 0 && isAll(LETTERS.dropped, text(letters))) {
          for (const key of group) done.push(key);
          result.keys += group.length;
          result.bytes += bytes;
          return;
        }
        eachLetter(group, text(letters), (key, letter) => {
          if (letter === LETTERS.changed) {
            result.again.push(key);
            result.hasChanged = true;
          } else if (letter === LETTERS.lost) result.lost.push(key);
          else if (letter === LETTERS.orphan) orphans.push(key);
          else {
            done.push(key);
            if (occupied.has(key)) result.superseded++;
            else {
              result.keys++;
              result.bytes += values.sizeOf(key);
            }
          }
        });
      });
    await allOf(values.groups.map(drop));
  }

  async #settle(batch: MoveBatch): Promise<void> {
    const { source, target, claims, takes, occupied, orphans, done, dropNumber } = batch;
    const isListed = (key: RedisKey) => !occupied.has(key);
    const copied = new Set(orphans.filter(isListed));
    // Mostly all keys are done. The list of the batch is packed already.
    const isWhole = done.length === batch.keys.length && occupied.size === 0;
    const keys = isWhole ? batch.keys : [...copied, ...done.filter(isListed)];
    // If another mover has claimed the copy of an orphan, that mover frees the orphan.
    const freed = orphans.filter((key) => occupied.has(key));
    await this.#run(target, 'settling keys', SETTLE_KEYS, INCOMING_KEY, keys, async (group, run, list) => {
      const fates =
        copied.size === 0 ? '' : group.map((key) => (copied.has(key) ? FATES.delete : FATES.keep)).join('');
      const [letters] = await run(() => [claims.get(list) as string, fates, source.id, dropNumber]);
      if (copied.size === 0) return;
      eachLetter(group, text(letters), (key, letter) => {
        if (letter === LETTERS.settled && copied.has(key)) freed.push(key);
      });
    });
    await this.#run(source, 'settling keys', FREE_ORPHANS, OUTGOING_KEY, freed, (_, run, list) =>
      run(() => [takes.get(list) as string]),
    );
  }

  /** Lets a cluster note a step of the other node. Its slots, where DROP and SETTLE run, note nothing. */
  async #note(node: NodeConnection, field: string, step: number): Promise<void> {
    if (!node.isCluster || step === 0) return;
    await node.run('noting a step', NOTE_STEP, [STATE_KEY], [this.#reshardId, this.#round, field, step]);
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
      list: string,
    ) => Promise<unknown>,
  ): Promise<void> {
    await allOf(
      node.groupsOf(keys).map((group) => {
        const place = node.placeOf(list, group);
        const [names, packed] = node.keyArguments(group);
        const head = [this.#reshardId, this.#direction, this.#round, packed];
        const run = async (args: () => readonly CommandPart[]) => {
          const reply = await node.run(operation, script, [...place, ...names], [...head, ...args()]);
          if (text(reply[0]) === STALE) throw new StalePhaseError(node, operation, reply);
          return reply;
        };
        return use(group, run, place[1]);
      }),
    );
  }
}

/** A node does not move keys of this resharding now: its phase is another one, or its state has to be checked first. */
export class StalePhaseError extends StoreError {
  readonly node: NodeConnection;
  readonly phase: ReshardPhase;
  readonly about: string;
  readonly isChecked: boolean;
  readonly round: number;

  constructor(
    node: NodeConnection,
    operation: string,
    [, phase, about, isChecked, round]: readonly unknown[],
  ) {
    const why =
      Number(isChecked) === 1
        ? `another resharding has begun there, or this one has ended (phase ${String(phase)}, ${String(about)})`
        : 'it was started again, and its state has to be checked: run the resharding again';
    super(`node ${node.address}: ${operation} failed: ${why}`);
    this.node = node;
    this.phase = String(phase) as ReshardPhase;
    this.about = String(about);
    this.isChecked = Number(isChecked) === 1;
    this.round = Number(round);
  }
}

/** The longest time that a node may take to write copies to disk or to a replica, ms. */
const DURABLE_TIMEOUT = 10_000;

/**
 * Waits until the copies on a target would survive a crash of the target, before their originals are deleted. Calls at the same
 * time share one wait: a wait covers everything that was written before it began.
 *
 * A wait covers only what was written on its own connection. A driver connects again without a word, so the ids of the connections
 * are compared: those before the copies were written with those after the wait.
 */
export class DurabilityBarrier {
  readonly #persistence: ReadonlyMap<string, Persistence>;
  readonly #timeout: number;
  /** For each target: the wait that has not begun yet. */
  readonly #next = new Map<NodeConnection, Promise<string>>();
  /** For each target: the wait under way. */
  readonly #running = new Map<NodeConnection, Promise<unknown>>();

  /** @param persistence the persistence of the targets by address */
  constructor(persistence: ReadonlyMap<string, Persistence>, timeout = DURABLE_TIMEOUT) {
    this.#persistence = persistence;
    this.#timeout = timeout;
  }

  /** The number of batches of one old node that may be under way. A wait for a disk takes up to a second, so many share it. */
  get concurrency(): number {
    const isSlow = [...this.#persistence.values()].some((one) => one.hasAof && one.canWaitForDisk);
    return isSlow ? 32 : 6;
  }

  /** The ids of the connections to a target, to be asked for before copies are written; empty if nobody waits. */
  async connections(target: NodeConnection): Promise<string> {
    const isNeeded = barrierOf(this.#persistence.get(target.address), this.#timeout) !== undefined;
    return isNeeded ? connectionsOf(await target.servers()) : '';
  }

  /**
   * Waits for the copies on a target.
   *
   * @returns the ids of the connections. If they are other ones than before the copies were written, nothing is known of the copies
   * @throws StoreError naming the target, if the copies are not safe in time
   */
  wait(target: NodeConnection): Promise<string> {
    const command = barrierOf(this.#persistence.get(target.address), this.#timeout);
    if (command === undefined) return Promise.resolve('');
    const waiting = this.#next.get(target);
    if (waiting !== undefined) return waiting;
    const next = (this.#running.get(target) ?? Promise.resolve())
      .catch(() => {})
      .then(() => {
        this.#next.delete(target);
        const running = waitOn(target, command);
        this.#running.set(target, running);
        return running;
      });
    this.#next.set(target, next);
    return next;
  }
}

/** The command that waits; `undefined` if the server has none, or nothing to wait for. */
function barrierOf(
  persistence: Persistence | undefined,
  timeout: number,
): readonly (string | number)[] | undefined {
  if (persistence === undefined) return undefined;
  if (persistence.hasAof) return persistence.canWaitForDisk ? ['WAITAOF', 1, 0, timeout] : undefined;
  return persistence.replicas > 0 ? ['WAIT', 1, timeout] : undefined;
}

const WAITING = 'making keys durable';

/** The ids of connections are never used again, as long as a server runs. */
async function connectionsOf(servers: readonly NodeConnection[]): Promise<string> {
  const ids = await Promise.all(servers.map((server) => server.command(WAITING, 'CLIENT', 'ID')));
  return ids.map(String).join(' ');
}

async function waitOn(target: NodeConnection, command: readonly (string | number)[]): Promise<string> {
  const servers = await target.servers();
  const replies = await Promise.all(servers.map((server) => server.command(WAITING, ...command)));
  if (replies.some((reply) => Number(Array.isArray(reply) ? reply[0] : reply) < 1))
    throw new StoreError(
      `node ${target.address}: ${WAITING} failed: ${command[0]} had no success within ${command.at(-1)} ms. ` +
        'The keys are still at their old owners, too. Check the disk or the replica of the node, and run it again',
    );
  return connectionsOf(servers);
}

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
  /** True if one of these keys, or a key of the same block, was written during the move. */
  hasChanged: boolean;
  /** Keys that another mover is moving. */
  lost: RedisKey[];
}

/** Keys with the same owners, and their state between the steps. */
interface MoveBatch extends OwnerChange {
  readonly keys: readonly RedisKey[];
  /** The number of values with one digest. */
  readonly block: number;
  /** The numbers that CLAIM and TAKE gave, by the name of the list. Keys of one group have the same list and number. */
  readonly claims: Map<string, string>;
  readonly takes: Map<string, string>;
  /** The number of the PUT on the target and of the DROP on the source; 0 for none. */
  putNumber: number;
  /** The resharding accepts targets that remove keys when they are full. */
  acceptsEviction: boolean;
  dropNumber: number;
  readonly values: TakenValues;
  /** Keys for which the new owner has a value of its own. */
  readonly occupied: Set<RedisKey>;
  /** Keys that another mover has claimed since, or whose copy is lost. */
  readonly lost: Set<RedisKey>;
  /** Keys that an application deleted on the old owner after a TAKE. Their copies have to be deleted. */
  readonly orphans: RedisKey[];
  /** Keys that are gone from the old owner. Only their entries in the list are left to remove. */
  readonly done: RedisKey[];
  readonly result: MoveResult;
}

/** A batch before its first step. */
export function newBatch(change: OwnerChange, keys: readonly RedisKey[], block: number): MoveBatch {
  return {
    ...change,
    keys,
    block,
    claims: new Map(),
    takes: new Map(),
    putNumber: 0,
    acceptsEviction: false,
    dropNumber: 0,
    values: new TakenValues(),
    occupied: new Set(),
    lost: new Set(),
    orphans: [],
    done: [],
    result: { keys: 0, bytes: 0, superseded: 0, again: [], hasChanged: false, lost: [] },
  };
}

/** The letters that scripts answer for keys. moving-keys.lua says what they mean. */
const LETTERS = {
  here: 'h',
  absent: 'a',
  free: 'f',
  copy: 'c',
  value: 'v',
  taken: 't',
  notYet: 'n',
  orphan: 'o',
  dropped: 'd',
  changed: 'x',
  lost: 'l',
  settled: 's',
} as const;

/** The letters that scripts take for keys, or for their copies. */
const FATES = { delete: 'd', keep: 'k' } as const;

/** A reply as text. */
export const text = (reply: unknown) => String(reply ?? '');

/** Visits keys with the letters that a script has answered for them. */
export function eachLetter(
  keys: readonly RedisKey[],
  letters: string,
  visit: (key: RedisKey, letter: string) => void,
): void {
  for (const [i, key] of keys.entries()) visit(key, letters[i] as string);
}

/** Tells whether a script has answered this letter for every key, as it mostly does. */
export function isAll(letter: string, letters: string): boolean {
  return letters === letter.repeat(letters.length);
}

/** Waits for all, also after one has failed. So no step is under way after an error. */
export async function allOf(steps: readonly Promise<unknown>[]): Promise<void> {
  const failure = (await Promise.allSettled(steps)).find(({ status }) => status === 'rejected');
  if (failure !== undefined) throw (failure as PromiseRejectedResult).reason;
}

/** Values as one TAKE has read them. */
interface TakenGroup {
  /** The keys with a value. */
  readonly keys: readonly RedisKey[];
  /** The values in blocks. */
  readonly blocks: Uint8Array;
  /** For each block a line `count digest`. */
  readonly digests: string;
  /** For each key with a TTL a line `row expiry`, with the time at which it expires by the clock of its old owner, Unix ms. */
  readonly expiries: string;
  /** The size of all values, bytes. */
  readonly bytes: number;
}

/** Values as a PUT writes them. */
interface PutPayload {
  readonly blocks: Uint8Array;
  /** For each key with a TTL a line `row expiry`. */
  readonly expiries: string;
}

/** One value, and the time at which it expires. */
interface TakenValue {
  readonly value: PackedValue;
  readonly expiry: string | undefined;
}

/** The values of a batch between TAKE and DROP. */
export class TakenValues {
  readonly groups: TakenGroup[] = [];
  #byKey: Map<RedisKey, TakenValue> | undefined;

  /** All keys with a value. */
  get keys(): readonly RedisKey[] {
    return this.groups.length === 1
      ? (this.groups[0] as TakenGroup).keys
      : this.groups.flatMap(({ keys }) => keys);
  }

  /** The values of some keys. Values of a whole group go on as they came. */
  payloadOf(keys: readonly RedisKey[]): PutPayload {
    const whole = this.groups.find((group) => group.keys === keys);
    if (whole !== undefined) return whole;
    const values = keys.map((key) => this.#valueOf(key));
    return {
      blocks: packArray(values.map(({ value }) => value)),
      expiries: values
        .flatMap(({ expiry }, i) => (expiry === undefined ? [] : `${i + 1} ${expiry}`))
        .join('\n'),
    };
  }

  /** The size of the value of a key, bytes. */
  sizeOf(key: RedisKey): number {
    const { value } = this.#valueOf(key);
    return (Array.isArray(value) ? value[0] : (value as Uint8Array)).length;
  }

  #valueOf(key: RedisKey): TakenValue {
    this.#byKey ??= new Map(this.groups.flatMap(split));
    return this.#byKey.get(key) as TakenValue;
  }
}

function split({ keys, blocks, expiries }: TakenGroup): [RedisKey, TakenValue][] {
  const values = unpackArrays(blocks);
  const times = new Map(expiries.split('\n').map((line) => line.split(' ') as [string, string]));
  return keys.map((key, i) => [key, { value: values[i] as PackedValue, expiry: times.get(String(i + 1)) }]);
}
