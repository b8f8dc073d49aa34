import type { OwnerChange } from '../context.js';
import type { RedisKey } from '../redis-key.js';
import { TakenValues } from './taken-values.js';

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
    ...{ keys, block, claims: new Map(), takes: new Map(), putNumber: 0, dropNumber: 0 },
    ...{ values: new TakenValues(), occupied: new Set(), lost: new Set(), orphans: [], done: [] },
    result: { keys: 0, bytes: 0, superseded: 0, again: [], hasChanged: false, lost: [] },
  };
}

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
