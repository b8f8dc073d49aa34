import type { OwnerChange } from '../context.js';
import type { RedisKey } from '../redis-key.js';

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

/** A value as TAKE reads it. */
export interface TakenValue {
  readonly value: Uint8Array;
  readonly ttl: string;
  readonly digest: string;
  readonly expiry: string;
  /** The time of the TAKE, ms. */
  readonly takenAt: number;
}

/** Keys with the same owners, and their state between the steps. */
export interface MoveBatch extends OwnerChange {
  readonly keys: readonly RedisKey[];
  /** The numbers that CLAIM gave. Keys of one group have the same number. */
  readonly claims: Map<RedisKey, string>;
  /** The numbers that TAKE gave. */
  readonly takes: Map<RedisKey, string>;
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

/** A reply as text. */
export const text = (reply: unknown) => String(reply ?? '');

/** Visits keys with the letters that a script has answered for them. */
export function eachLetter(
  keys: readonly RedisKey[],
  letters: unknown,
  visit: (key: RedisKey, letter: string) => void,
): void {
  const all = text(letters);
  keys.forEach((key, i) => {
    visit(key, all[i] as string);
  });
}

/** The TTL that is left now; 0 for a key without a TTL, and 1 for a TTL that is over. */
export function ttlNow({ ttl, takenAt }: TakenValue): number {
  return Number(ttl) < 0 ? 0 : Math.max(1, Math.round(Number(ttl) - (performance.now() - takenAt)));
}

/** The number of a group, whose keys all have the same one. */
export function numberOf(numbers: ReadonlyMap<RedisKey, string>, [key]: readonly RedisKey[]): string {
  return numbers.get(key as RedisKey) as string;
}

/** Waits for all, also after one has failed. So no step is under way after an error. */
export async function allOf(steps: readonly Promise<unknown>[]): Promise<void> {
  const failure = (await Promise.allSettled(steps)).find(({ status }) => status === 'rejected');
  if (failure !== undefined) throw (failure as PromiseRejectedResult).reason;
}
