// npm run bench -- reshard, with KEYS=20000 for fewer keys

import { register } from 'node:module';
import { cpus } from 'node:os';
import { planReshard, reshard, ShardMap } from '@idsmith/shard';
import { Redis } from 'ioredis';
import { printTargets, save } from './harness.mjs';

register('../test/typescript.mjs', import.meta.url);
const { startRedis } = await import('../test/services/index.ts');

const KEYS = Number(process.env.KEYS ?? 100_000);
const ROUNDS = 9;
/** One key after another takes so long that few rounds are exact enough. */
const SLOW_ROUNDS = 2;
const TARGET = 20_000;

const servers = [await startRedis(), await startRedis()];
const [old, next] = servers.map(({ port }) => new Redis(port));
const configs = servers.map(({ port }) => ({
  shards: { 0: [port, '127.0.0.1', 1] },
  options: { maxSkew: 0, keyTypes: { user: 2 } },
}));
const names = new ShardMap(configs[0]);
const keys = Array.from({ length: KEYS }, (_, i) => names.fixedKey(469_362_600_003 + 37 * i, i, 2));
await names.close();

/** A hundred thousand small values on the old node, none on the new one. */
async function refill() {
  await Promise.all([old.flushall(), next.flushall()]);
  for (let at = 0; at < KEYS; at += 1000) {
    const pipeline = old.pipeline();
    for (const key of keys.slice(at, at + 1000)) pipeline.set(key, `value of ${key}`);
    await pipeline.exec();
  }
}

/** That all is there, and nothing left, comes first. */
async function check(name) {
  for (let at = 0; at < KEYS; at += 1000) {
    const some = keys.slice(at, at + 1000);
    const values = await next.mget(some);
    if (values.some((value, i) => value !== `value of ${some[i]}`)) throw new Error(`${name} lost a key`);
    if ((await old.exists(...some)) !== 0) throw new Error(`${name} left a key`);
  }
}

async function withMaps(use) {
  const maps = configs.map((config) => new ShardMap(config));
  try {
    return await use(...maps);
  } finally {
    await Promise.all(maps.map((map) => map.close()));
  }
}

const { port } = servers[1];

/** Those that move, and how: every one of them is given what it needs before the clock starts. */
const contenders = {
  'reshard()': () => withMaps((from, to) => reshard(from, to)),
  'reshard(), batches of 100': () => withMaps((from, to) => reshard(from, to, { batch: 100 })),
  'MIGRATE, one key after another': async () => {
    for (const key of keys) await old.migrate('127.0.0.1', port, key, 0, 5000);
  },
  'MIGRATE, 500 keys at a time': async () => {
    for (let at = 0; at < KEYS; at += 500)
      await old.migrate('127.0.0.1', port, '', 0, 5000, 'KEYS', ...keys.slice(at, at + 500));
  },
};

/** The processor time of both servers and of this process so far, µs. It tells more than the clock on a busy machine. */
async function processorTime() {
  const { user, system } = process.cpuUsage();
  const infos = await Promise.all([old, next].map((client) => client.info('cpu')));
  const seconds = infos.flatMap((info) =>
    [...info.matchAll(/^used_cpu_(?:user|sys):(\S+)/gm)].map(([, s]) => Number(s)),
  );
  return user + system + 1e6 * seconds.reduce((sum, one) => sum + one, 0);
}

const version = /redis_version:(\S+)/.exec(await old.info('server'))?.[1];
const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}, Redis ${version}`;
console.log(`Moving ${KEYS.toLocaleString('en')} small keys from one local Redis to another\n${machine}`);
console.log(`median of ${ROUNDS} rounds\n`);

await refill();
const started = performance.now();
const plan = await withMaps((from, to) => planReshard(from, to));
if (plan.keys !== KEYS) throw new Error(`the plan has ${plan.keys} keys`);
const planned = (KEYS / (performance.now() - started)) * 1000;

const rates = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
const costs = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, move] of Object.entries(contenders)) {
    if (name.endsWith('one key after another') && round >= SLOW_ROUNDS) continue;
    await refill();
    const before = await processorTime();
    const start = performance.now();
    await move();
    rates[name].push((KEYS / (performance.now() - start)) * 1000);
    costs[name].push(((await processorTime()) - before) / KEYS);
    await check(name);
  }
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const plain = median(rates['MIGRATE, one key after another']);
console.log(
  `${''.padEnd(34)}${'keys/s'.padStart(10)}${'× (a plain loop = 1)'.padStart(24)}${'processor µs a key'.padStart(20)}`,
);
for (const [name, numbers] of Object.entries(rates)) {
  const rate = median(numbers);
  console.log(
    `${name.padEnd(34)}${Math.round(rate).toLocaleString('en').padStart(10)}${(rate / plain).toFixed(2).padStart(24)}` +
      median(costs[name]).toFixed(1).padStart(20),
  );
}
console.log(`${'planReshard()'.padEnd(34)}${Math.round(planned).toLocaleString('en').padStart(10)}`);

const targets = [
  {
    what: `reshard() against ${TARGET.toLocaleString('en')} keys a second`,
    ratio: median(rates['reshard()']) / TARGET,
    target: 1,
  },
  {
    what: 'reshard() against MIGRATE with 500 keys at a time',
    ratio: median(rates['reshard()']) / median(rates['MIGRATE, 500 keys at a time']),
    target: 1 / 1.5,
  },
];
printTargets(targets);
save('reshard', { machine, keys: KEYS, rates, costs, planned, targets });
old.disconnect();
next.disconnect();
await Promise.all(servers.map((server) => server.stop()));
