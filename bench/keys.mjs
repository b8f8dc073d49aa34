// npm run bench -- keys

import { register } from 'node:module';
import { HashRing, ShardMap } from '@idsmith/shard';
import base62Package from '@sindresorhus/base62';
import baseX from 'base-x';
import { decode as decodeNumber, encode as encodeNumber } from 'base62-ts';
import ConsistentHash from 'consistent-hash';
import Ring from 'hashring';
import { consumed, measure, printTable, printTargets, save, versionOf } from './harness.mjs';

register('../test/typescript.mjs', import.meta.url);
const { startRedis } = await import('../test/services/index.ts');

const { decodeBigInt, encodeBigInt } = base62Package;
const ours = versionOf('idsmith');
const own = (name, call) => ({ name, version: ours, call, mayRepeat: true });
const peer = (name, call, what = name) => ({ name: what, version: versionOf(name), call, mayRepeat: true });

// More keys than any cache of a peer holds, in turn.
const COUNT = 2 ** 17;
const offline = new ShardMap({ shards: { 0: ['6379', '127.0.0.1', 1] } });
const parts = Array.from({ length: COUNT }, (_, i) => ({
  ms: 469_362_600_003 + 37 * i,
  variant: (i * 7) % 3844,
  type: 2,
}));
const keys = parts.map(({ ms, variant, type }) => offline.fixedKey(ms, variant, type));
const numbers = parts.map(
  ({ ms, variant, type }) => (BigInt(ms) * 3844n + BigInt(variant)) * 3844n + BigInt(type),
);
const bytes = numbers.map((number) => {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, number);
  return new Uint8Array(view.buffer);
});
const base62 = baseX('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
for (const [i, key] of keys.entries())
  if (encodeBigInt(numbers[i]) !== key || decodeBigInt(key) !== numbers[i]) throw new Error(`${key} differs`);

/** Calls `use` with one number after another. */
function inTurn(use) {
  let i = 0;
  return () => {
    i = (i + 1) % COUNT;
    return use(i);
  };
}

const writing = measure([
  own(
    'fixedKey()',
    inTurn((i) => offline.fixedKey(parts[i].ms, parts[i].variant, parts[i].type)),
  ),
  peer(
    '@sindresorhus/base62',
    inTurn((i) => encodeBigInt(numbers[i])),
    '@sindresorhus/base62, BigInt',
  ),
  peer(
    'base-x',
    inTurn((i) => base62.encode(bytes[i])),
    'base-x, bytes',
  ),
  peer(
    'base62-ts',
    inTurn((i) => encodeNumber(parts[i].ms)),
    'base62-ts, the time only',
  ),
]);
const machine = printTable('Writing keys', writing, 'fixedKey()');

const times = keys.map((key) => key.slice(0, -4));
const reading = measure([
  own(
    'virtualShardOf()',
    inTurn((i) => offline.virtualShardOf(keys[i])),
  ),
  own(
    'toDecimalString()',
    inTurn((i) => offline.toDecimalString(keys[i])),
  ),
  peer(
    '@sindresorhus/base62',
    inTurn((i) => decodeBigInt(keys[i])),
    '@sindresorhus/base62, BigInt',
  ),
  peer(
    'base-x',
    inTurn((i) => base62.decode(keys[i])[7]),
    'base-x, bytes',
  ),
  peer(
    'base62-ts',
    inTurn((i) => decodeNumber(times[i])),
    'base62-ts, the time only',
  ),
]);
console.log();
printTable('Reading keys', reading, 'virtualShardOf()');

const names = Array.from({ length: 8 }, (_, i) => `10.0.0.${i + 1}:6379`);
const ring = new HashRing(Object.fromEntries(names.map((name) => [name, 1])));
const ketama = new Ring(names);
const consistent = new ConsistentHash();
// As many points a node as the others have.
for (const name of names) consistent.add(name, 160);
const owners = measure([
  own(
    'nodeOf()',
    inTurn((i) => ring.nodeOf(keys[i])),
  ),
  peer(
    'hashring',
    inTurn((i) => ketama.get(keys[i])),
    'hashring, also MD5',
  ),
  peer(
    'consistent-hash',
    inTurn((i) => consistent.get(keys[i])),
    'consistent-hash, PJW',
  ),
]);
console.log();
printTable('Owners of distinct keys among 8 nodes', owners, 'nodeOf()');

const redis = await startRedis();
const map = new ShardMap({ shards: { 0: [redis.port, '127.0.0.1', 1] }, options: { keyTypes: { user: 2 } } });
await map.genKey();
// A new node begins a second ahead of its clock; after another it has room again.
while (map.getTime(await map.genKey()).getTime() > Date.now() + 10);

async function trips() {
  const stats = [...(await redis.command('INFO', 'commandstats')).matchAll(/cmdstat_evalsha:calls=(\d+)/g)];
  return Number(stats[0][1]);
}

/** Keys a second, of batches of 1,000, for a few seconds; and that they are all different. */
async function mintBatches(seconds, atOnce) {
  const seen = [];
  const started = performance.now();
  const end = started + 1000 * seconds;
  const before = await trips();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (performance.now() < end) seen.push(await map.genKeys('user', 1000));
    }),
  );
  const took = (performance.now() - started) / 1000;
  const all = seen.flat();
  if (new Set(all).size !== all.length) throw new Error('a key came twice');
  return { atOnce, perSecond: all.length / took, roundTrips: ((await trips()) - before) / took };
}

console.log('\nMinting on one Redis in batches of 1,000; a map has 1,612,000 keys a second at most\n');
const minting = [];
for (const atOnce of [1, 4]) {
  const result = await mintBatches(2, atOnce);
  minting.push(result);
  const { perSecond, roundTrips } = result;
  console.log(
    `${atOnce} at a time: ${Math.round(perSecond).toLocaleString('en')} keys a second, ` +
      `${Math.round(roundTrips).toLocaleString('en')} round trips a second`,
  );
}
const before = await trips();
await Promise.all(Array.from({ length: 1000 }, () => map.genKey('user')));
const gathered = (await trips()) - before;
console.log(`1,000 calls of genKey() at once: ${gathered} round trips`);
await map.close();
await redis.stop();

/** Waits until a map lies no longer ahead of its clocks, so that it has a whole second of keys at once. Keys run ahead by a second at most. */
async function settle(settling) {
  await settling.genKey();
  await new Promise((resolve) => setTimeout(resolve, 2500));
}

const servers = await Promise.all(Array.from({ length: 8 }, () => startRedis()));
const eight = new ShardMap({
  shards: Object.fromEntries(servers.map(({ port }, i) => [i, [port, '127.0.0.1']])),
});
const SHARE = 400_000;

/** Keys a second that one of the eight nodes reserves: its share of the milliseconds. */
async function mintOnOne([sequence]) {
  const started = performance.now();
  for (let left = SHARE; left > 0; ) {
    const reply = await sequence.mint(left, 0, { after: 0, until: Number.MAX_SAFE_INTEGER });
    if (reply.kind === 'keys') left -= reply.count;
    if (left > 0)
      await new Promise((resolve) => setTimeout(resolve, Math.min(100, reply.restIn ?? reply.ms)));
  }
  return (SHARE / (performance.now() - started)) * 1000;
}

async function mintOnAll() {
  const started = performance.now();
  const minted = await eight.genKeys(undefined, 8 * SHARE);
  const took = performance.now() - started;
  for (let i = 1; i < minted.length; i++)
    if (minted[i] <= minted[i - 1]) throw new Error('the keys do not ascend');
  return (minted.length / took) * 1000;
}

await settle(eight);
const onOne = await mintOnOne(eight.sequences);
await settle(eight);
const onAll = await mintOnAll();
const inThousands = (perSecond) => Math.round(perSecond / 1000).toLocaleString('en');
console.log(
  `8 nodes: ${inThousands(onAll)} thousand keys a second, ${inThousands(onOne)} thousand on one of them alone`,
);
await eight.close();
await Promise.all(servers.map((server) => server.stop()));

const many = Object.fromEntries(
  Array.from({ length: 3844 }, (_, i) => [i, ['6379', `10.0.${i >> 8}.${i & 255}`]]),
);
let clock = performance.now();
const largest = new ShardMap({ shards: many });
const constructing = performance.now() - clock;
clock = performance.now();
largest.whereIs(keys[0]);
const building = performance.now() - clock;
console.log(`3,844 nodes: constructor ${constructing.toFixed(0)} ms, first owner ${building.toFixed(0)} ms`);

/** The time to the first key of a process with 3,844 nodes that are open, and to connect to as many and ask each a question. */
async function measureFirstKey() {
  const server = await startRedis({
    args: ['--databases', '4000', '--maxclients', '9000', '--tcp-backlog', '4096'],
  });
  // Only now: what is loaded before changes where the keys above lie in memory.
  const { Redis } = await import('ioredis');
  const clients = [];
  const createClient = ({ index }) => {
    const client = new Redis(server.port, '127.0.0.1', { db: index, enableReadyCheck: false });
    clients.push(client);
    return client;
  };
  const disconnect = () => {
    for (const client of clients.splice(0)) client.disconnect();
  };
  let first;
  // The first map opens the nodes. The second has a warm program.
  for (let round = 0; round < 3; round++) {
    const opened = new ShardMap({ shards: many, options: { maxSkew: 50, timeout: 60_000 }, createClient });
    const started = performance.now();
    await opened.genKey();
    first = performance.now() - started;
    await opened.close();
    disconnect();
  }
  const started = performance.now();
  await Promise.all(
    Object.keys(many).map((index) => createClient({ index }).eval('return ARGV[1]', 0, 'a question')),
  );
  const connecting = performance.now() - started;
  disconnect();
  await server.stop();
  return { first, connecting };
}

const { first: firstKey, connecting } = await measureFirstKey();
console.log(
  `3,844 open nodes: first key ${firstKey.toFixed(0)} ms; connecting and one question to each ${connecting.toFixed(0)} ms`,
);

const of = (results, name) => results.find((result) => result.name === name).nanoseconds;
const fasterRing = Math.min(of(owners, 'hashring, also MD5'), of(owners, 'consistent-hash, PJW'));
const targets = [
  {
    what: 'writing keys against BigInt',
    ratio: of(writing, '@sindresorhus/base62, BigInt') / of(writing, 'fixedKey()'),
    target: 5,
  },
  {
    what: 'reading keys against BigInt',
    ratio: of(reading, '@sindresorhus/base62, BigInt') / of(reading, 'virtualShardOf()'),
    target: 5,
  },
  {
    what: 'nodeOf() against the faster of two rings',
    ratio: fasterRing / of(owners, 'nodeOf()'),
    target: 1.5,
  },
  {
    what: 'nodeOf() against hashring, which makes the same points',
    ratio: of(owners, 'hashring, also MD5') / of(owners, 'nodeOf()'),
    target: 1.5,
  },
  { what: 'genKeys() against a million a second', ratio: minting[0].perSecond / 1e6, target: 1 },
  { what: '8 nodes against 8 times one of them', ratio: onAll / (8 * onOne), target: 0.8 },
  { what: '100 ms against the constructor with 3,844 nodes', ratio: 100 / constructing, target: 1 },
  { what: '1.5 s against the first key on 3,844 open nodes', ratio: 1500 / firstKey, target: 1 },
  { what: '20 round trips against those of 1,000 calls at once', ratio: 20 / gathered, target: 1 },
];
printTargets(targets);
save('keys', {
  machine,
  targets,
  writing,
  reading,
  owners,
  minting,
  gathered,
  onOne,
  onAll,
  constructing,
  building,
  firstKey,
  connecting,
  consumed: consumed(),
});
