// npm run bench -- leases, or with STORES=etcd,http for some of the stores

import { cpus } from 'node:os';
import { acquireLease, memoryStore } from 'idsmith';
import { openStore } from 'idsmith/stores';
import { httpStore } from 'idsmith/stores/http';
import { save } from './harness.mjs';
import { startStores } from './sequence/stores.mjs';
import { startIdsmith } from './server/start.mjs';

/** How many start at once, and how many node ids there are. */
const STORMS = [
  [1000, 1024],
  [256, 1024],
  [64, 64],
];
/** The bar: operations of the store per lease, on average and at most. */
const [AVERAGE, MOST] = [6, 24];
/** Long enough that a queue before the store is no failure. */
const TTL = 600_000;

const stores = await startStores();
const server = await startIdsmith();
const urls = {
  ...Object.fromEntries(stores.names.map((name) => [name, stores.urlOf(name)])),
  redis: `${stores.urlOf('redis')}?durable=true`,
  // Only counts matter here, so that a busy machine is no failure.
  etcd: `${stores.urlOf('etcd')}?timeout=${TTL}`,
  http: server.url,
};

async function open(name) {
  if (name === 'memory') return memoryStore();
  if (name !== 'http') return openStore(urls[name]);
  const store = httpStore(urls.http, { timeout: TTL });
  // It learns that the store behind the server is durable.
  await store.now();
  return store;
}

/** The store with a count of the operations that one acquisition asks it for. */
function counted(store) {
  const count = { operations: 0 };
  const counting = new Proxy(store, {
    get(target, name) {
      const member = target[name];
      if (typeof member !== 'function') return member;
      return (...args) => {
        count.operations++;
        return member.apply(target, args);
      };
    },
  });
  return { count, counting };
}

async function storm(store, processes, size) {
  const namespace = `storm ${crypto.randomUUID()}`;
  const counters = Array.from({ length: processes }, () => counted(store));
  const begin = performance.now();
  const counts = [];
  const leases = await Promise.all(
    counters.map(async ({ count, counting }) => {
      const lease = await acquireLease(counting, { namespace, size, ttl: TTL });
      // Later ones are renewals.
      counts.push(count.operations);
      return lease;
    }),
  );
  const seconds = (performance.now() - begin) / 1000;
  if (new Set(leases.map(({ id }) => id)).size !== processes) throw new Error('a node id was given twice');
  await Promise.all(leases.map((lease) => lease.release()));
  const average = counts.reduce((sum, each) => sum + each, 0) / processes;
  return { processes, size, average, most: Math.max(...counts), seconds };
}

const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}`;
console.log(
  `Processes that take a lease at the same moment: operations of the store per lease\n${machine}\n`,
);
const results = [];
const names = process.env.STORES?.split(',') ?? ['memory', ...Object.keys(urls)];
for (const name of names) {
  const store = await open(name);
  for (const [processes, size] of STORMS) {
    const result = { store: name, ...(await storm(store, processes, size)) };
    results.push(result);
    const { average, most, seconds } = result;
    console.log(
      `${average <= AVERAGE && most <= MOST ? 'reached' : 'MISSED '}  ${name.padEnd(9)} ${processes} of ${size}: ` +
        `${average.toFixed(2)} on average, ${most} at most, ${seconds.toFixed(2)} s`,
    );
  }
  await store.close();
}
save('leases', { machine, bar: { average: AVERAGE, most: MOST }, results });
await Promise.all([stores.stop(), server.stop()]);
