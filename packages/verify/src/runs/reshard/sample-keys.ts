import type { ShardMap } from '@idsmith/shard';
import { type ChainableCommander, Redis } from 'ioredis';

/** A key with a value of some Redis type. Its value follows from its number. */
export interface SampleKey {
  readonly key: string;
  readonly number: number;
  /** The time at which it expires, Unix ms; `undefined` for never. */
  readonly expiry: number | undefined;
}

type Answer = [error: Error | null, value: unknown];

const KINDS = ['string', 'hash', 'list', 'set', 'zset', 'stream', 'large hash'] as const;
const PER_TRIP = 500;

/** Keys of every Redis type, some with a suffix, some that expire. */
export function sampleKeys(map: ShardMap, count: number, expiresFrom: number): SampleKey[] {
  return Array.from({ length: count }, (_, number) => ({
    // A suffix now and then: such keys live with their stem.
    key: map.fixedKey(1_000_000 + number, number, 2, number % 5 === 0 ? 'part' : undefined),
    number,
    expiry: number % 2 === 0 ? undefined : expiresFrom + number * 10,
  }));
}

const kindOf = (number: number) => KINDS[number % 70 === 69 ? 6 : number % 6] as (typeof KINDS)[number];

function write(pipeline: ChainableCommander, { key, number, expiry }: SampleKey): void {
  const many = Array.from({ length: 3 + (number % 4) }, (_, i) => `${number}:${i}`);
  const kind = kindOf(number);
  if (kind === 'string') pipeline.set(key, `value ${number}`);
  if (kind === 'hash') pipeline.hset(key, ...many.flatMap((text, i) => [`f${i}`, text]));
  // Large enough that Redis keeps it in another encoding.
  if (kind === 'large hash')
    pipeline.hset(key, ...Array.from({ length: 200 }, (_, i) => [`f${i}`, `${number}:${i}`]).flat());
  if (kind === 'list') pipeline.rpush(key, ...many);
  if (kind === 'set') pipeline.sadd(key, ...many);
  if (kind === 'zset') pipeline.zadd(key, ...many.flatMap((text, i) => [i + 0.5, text]));
  if (kind === 'stream') {
    for (const [i, text] of many.entries()) pipeline.xadd(key, `${number + 1}-${i}`, 'text', text);
    pipeline.xgroup('CREATE', key, 'readers', '0');
    pipeline.xreadgroup('GROUP', 'readers', 'reader', 'COUNT', 1, 'STREAMS', key, '>');
  }
  if (expiry !== undefined) pipeline.pexpireat(key, expiry);
}

/** The command that reads the key. */
function reading({ key, number }: SampleKey): [command: string, ...args: (string | number)[]] {
  const kind = kindOf(number);
  if (kind === 'string') return ['GET', key];
  if (kind === 'hash' || kind === 'large hash') return ['HGETALL', key];
  if (kind === 'list') return ['LRANGE', key, 0, -1];
  if (kind === 'set') return ['SMEMBERS', key];
  if (kind === 'zset') return ['ZRANGE', key, 0, -1, 'WITHSCORES'];
  return ['XPENDING', key, 'readers'];
}

function isExpected({ number }: SampleKey, answer: unknown): boolean {
  const kind = kindOf(number);
  const many = Array.from({ length: 3 + (number % 4) }, (_, i) => `${number}:${i}`);
  const same = (value: unknown, expected: unknown) => JSON.stringify(value) === JSON.stringify(expected);
  if (kind === 'string') return answer === `value ${number}`;
  if (kind === 'list') return same(answer, many);
  if (kind === 'set') return same([...((answer as string[]) ?? [])].sort(), [...many].sort());
  // Pairs come flat or not, depending on the protocol that the driver speaks.
  const flat = Array.isArray(answer) ? answer.flat() : Object.entries(answer ?? {}).flat();
  if (kind === 'zset')
    return same(
      flat,
      many.flatMap((text, i) => [text, String(i + 0.5)]),
    );
  if (kind === 'stream') return same(answer, [1, `${number + 1}-0`, `${number + 1}-0`, [['reader', '1']]]);
  const fields = Array.from({ length: kind === 'hash' ? many.length : 200 }, (_, i) => [
    `f${i}`,
    `${number}:${i}`,
  ]);
  const pairs = Array.from({ length: flat.length / 2 }, (_, i) => flat.slice(2 * i, 2 * i + 2));
  return same(pairs.sort(), fields.sort());
}

/** Writes the keys to their owners in the map. */
export async function populate(map: ShardMap, all: readonly SampleKey[]): Promise<void> {
  await onNodes(map, async (client, name) => {
    const mine = all.filter(({ key }) => map.whereIs(key) === name);
    for (let at = 0; at < mine.length; at += PER_TRIP) {
      const pipeline = client.pipeline();
      for (const sample of mine.slice(at, at + PER_TRIP)) write(pipeline, sample);
      for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error;
    }
  });
}

/** Wrong values and TTLs, read from the owner of each key in the map. */
export async function faults(map: ShardMap, all: readonly SampleKey[]): Promise<string[]> {
  const wrong: string[] = [];
  await onNodes(map, async (client, name) => {
    const mine = all.filter(({ key }) => map.whereIs(key) === name);
    for (let at = 0; at < mine.length; at += PER_TRIP) {
      const some = mine.slice(at, at + PER_TRIP);
      const pipeline = client.pipeline();
      for (const sample of some) {
        pipeline.call(...reading(sample));
        pipeline.pexpiretime(sample.key);
      }
      const answers = (await pipeline.exec()) as Answer[];
      some.forEach((sample, i) => {
        const [error, value] = answers[2 * i] as Answer;
        const [, expiresAt] = answers[2 * i + 1] as Answer;
        if (error || !isExpected(sample, value))
          wrong.push(
            `${sample.key} (${kindOf(sample.number)}) on ${name} is ${error ?? JSON.stringify(value)}`,
          );
        // All servers have the same clock here, so the time at which a key expires stays the same.
        if (expiresAt !== (sample.expiry ?? -1))
          wrong.push(`${sample.key} on ${name} expires at ${expiresAt}, not at ${sample.expiry}`);
      });
    }
  });
  return wrong;
}

/**
 * Wrong values and TTLs, read through the clients that the map hands out.
 *
 * @param tolerance the largest difference of expiries, ms. A cluster that moves a slot carries TTLs (MIGRATE), which get longer
 */
export async function faultsThrough(
  map: ShardMap,
  all: readonly SampleKey[],
  tolerance = 0,
): Promise<string[]> {
  const wrong: string[] = [];
  for (let at = 0; at < all.length; at += PER_TRIP)
    await Promise.all(
      all.slice(at, at + PER_TRIP).map(async (sample) => {
        const { key, expiry } = sample;
        const client = map.getClient(key);
        const answers = [client.call(...reading(sample)), client.pexpiretime(key)];
        const [value, expiresAt] = await Promise.all(answers);
        if (!isExpected(sample, value))
          wrong.push(`${key} (${kindOf(sample.number)}) is ${JSON.stringify(value)}`);
        const difference = Math.abs(expiresAt - (expiry ?? -1));
        if (difference > (expiry === undefined ? 0 : tolerance))
          wrong.push(`${key} expires at ${expiresAt}, not at ${expiry}`);
      }),
    );
  return wrong;
}

/** Every key of the nodes, with the names of the nodes that hold it. */
export async function everywhere(map: ShardMap): Promise<Map<string, string[]>> {
  const places = new Map<string, string[]>();
  await onNodes(map, async (client, name) => {
    const found = new Set<string>();
    for await (const keys of client.scanStream({ count: 5000 })) for (const key of keys) found.add(key);
    for (const key of found) places.set(key, [...(places.get(key) ?? []), name]);
  });
  return places;
}

async function onNodes(map: ShardMap, use: (client: Redis, name: string) => Promise<void>): Promise<void> {
  await Promise.all(
    map.nodes.map(async ({ host, port, name }) => {
      const client = new Redis(port, host);
      try {
        await use(client, name);
      } finally {
        client.disconnect();
      }
    }),
  );
}
