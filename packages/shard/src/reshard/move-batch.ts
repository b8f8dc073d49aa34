import { type PackedValue, packArray, unpackArrays } from 'idsmith/internal';
import type { OwnerChange } from './context.js';
import type { RedisKey } from './redis-keys.js';

/** A hook for tests that runs after each of the five steps. */
export type AfterStep = (step: 'claimed' | 'taken' | 'put' | 'dropped' | 'settled') => unknown;

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
export interface MoveBatch extends OwnerChange {
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
export const LETTERS = {
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
export const FATES = { delete: 'd', keep: 'k' } as const;

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
export interface TakenGroup {
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
export interface PutPayload {
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
