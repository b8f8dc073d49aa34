import { type PackedValue, packArray, unpackArrays } from '../../../encoding/message-pack.js';
import type { RedisKey } from '../redis-key.js';

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
