// One of the processes that a chaos run torments. It takes a lease, mints a few hundred ids a second, flakes or locality
// UUIDs, and appends each to its file before it goes on, through whatever happens, until SIGTERM. What happens is told as JSON lines on its output.

import { existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { acquireLease, defineLayout, FlakeGenerator, Lease, LocalityGenerator } from 'idsmith';
import { openStore } from 'idsmith/stores';
import { redisStore } from 'idsmith/stores/redis';
import { Cluster } from 'ioredis';
import { longestTtl, rememberLimit } from '../../packages/idsmith/dist/lease/limit.js';
import { leaseSettings } from '../../packages/idsmith/dist/lease/options.js';

const task = JSON.parse(process.argv[2]);
const { store: target, lease: options, family, layout, idsFile, clockFile, copyFile } = task;

/** Between two handfuls of ids, ms: more often than the layout's tick changes, so that overlapping windows would show. */
const STEP = 15;
/** A generator whose clock went back too far does not recover before its clock does: after this, ms, take a new one. */
const CLOCK_PATIENCE = 500;

let offset = Number(readFileSync(clockFile, 'utf8'));
setInterval(() => {
  offset = Number(readFileSync(clockFile, 'utf8'));
}, 50).unref();
const clock = { now: () => Date.now() + offset };

const file = openSync(idsFile, 'a');
const tell = (event, detail) => console.log(JSON.stringify({ at: Date.now(), offset, event, ...detail }));
const why = (error) => ({ code: error?.code, message: error?.message });

let isEnding = false;
process.once('SIGTERM', () => {
  isEnding = true;
});
tell('started');

function openCluster({ nodes, natMap, maxTtl }) {
  const client = new Cluster(nodes, {
    natMap,
    // As openStore has them for a single server.
    redisOptions: {
      connectTimeout: 5000,
      maxRetriesPerRequest: 1,
      autoResendUnfulfilledCommands: false,
      socketTimeout: 2000,
    },
  });
  client.on('error', () => {});
  return { ...redisStore(client, { maxTtl }), close: async () => client.disconnect() };
}

/** A lease, sooner or later; nothing once the process is to end. */
async function acquire(store) {
  while (!isEnding) {
    try {
      return await acquireLease(store, { ...options, clock });
    } catch (error) {
      if (!['LEASES_EXHAUSTED', 'STORE', 'CLOCK'].includes(error?.code)) throw error;
      tell('refused', why(error));
      await sleep(100 + 200 * Math.random());
    }
  }
}

/** The store, with an eye on the record that is held here, as far as this process knows. */
function watched(store) {
  const swapLease = async (namespace, expected, next) => {
    const done = await store.swapLease(namespace, expected, next);
    if (done && next.id >= 0) held.record = next;
    return done;
  };
  return { ...store, swapLease };
}

/**
 * The lease and its record. The window is borrowed while it is the one that this process has from the process that it is a
 * copy of: then nothing is known of what was minted in it.
 */
const held = { lease: undefined, record: undefined, isBorrowed: false };

// On SIGUSR2 the memory of this process goes into a file, from which a copy continues. If the platform tells both of it,
// each fences its lease before it does anything else.
process.on('SIGUSR2', () => {
  const { isTold, memoryFile } = JSON.parse(readFileSync(copyFile, 'utf8'));
  const { lease, record } = held;
  const isHeld = lease?.state === 'active' && record?.fence === lease.until && !held.isBorrowed;
  if (!isHeld || existsSync(memoryFile)) return;
  const { from } = lease;
  if (isTold) lease.fence();
  tell('copied', { isTold });
  writeWhole(memoryFile, {
    record,
    from,
    isTold,
    limit: longestTtl(leaseSettings(store, { ...options, clock })),
  });
});

function writeWhole(path, value) {
  writeFileSync(`${path}.new`, JSON.stringify(value));
  renameSync(`${path}.new`, path);
}

/** Continues with the memory of another process: its lease, which that one has, too. */
async function continueCopy(store) {
  while (!existsSync(task.continues)) {
    if (isEnding) return undefined;
    await sleep(2);
  }
  const { record, from, isTold, limit } = JSON.parse(readFileSync(task.continues, 'utf8'));
  const settings = leaseSettings(store, { ...options, clock });
  // Else the copy of one with a low limit founds a lost namespace too early, and with a limit that keeps the others out.
  rememberLimit(settings, { epoch: limit, fence: 0 });
  const acquired = { record, from, wasEmpty: false, layout: undefined };
  const lease = new Lease(settings, acquired);
  held.record = record;
  held.isBorrowed = true;
  if (isTold) lease.fence();
  // The other process may use the window to its end, and a tick that began before the end.
  const end = record.fence + layout.tick;
  while (!isTold && clock.now() < end && !isEnding) await sleep(STEP);
  return lease;
}

/** Mints a handful in every way that there is, and writes down what was handed out even if the rest fails. */
const mintSome = family === 'flake' ? mintFlakes : mintLocality;

function mintFlakes(generator) {
  const ids = [];
  try {
    ids.push(generator.next());
    ids.push(...generator.batch(4));
    ids.push(generator.next());
  } finally {
    if (ids.length > 0) writeSync(file, new Uint8Array(BigUint64Array.from(ids).buffer));
  }
}

function mintLocality(generator) {
  const ids = [];
  const four = new Uint8Array(64);
  let filled = 0;
  try {
    if (Math.random() < 0.1) generator.useSequentialIds();
    if (Math.random() < 0.1) generator.useVariableIds();
    ids.push(generator.next());
    ids.push(...generator.batch(4));
    filled = generator.fill(four);
    ids.push(generator.next());
  } finally {
    const texts = Buffer.from(ids.join('').replaceAll('-', ''), 'hex');
    const bytes = Buffer.concat([texts, four.subarray(0, 16 * filled)]);
    if (bytes.length > 0) writeSync(file, bytes);
  }
}

function makeGenerator(lease) {
  if (family === 'flake') return new FlakeGenerator({ node: lease, layout: defineLayout(layout), clock });
  // As coarse as the layout's ticks, so that overlapping windows show here, too.
  const coarse = { now: () => Math.floor(clock.now() / layout.tick) * layout.tick };
  return new LocalityGenerator({ node: lease, mode: 'sequential', clock: coarse });
}

/** Mints until the process is to end or the generator is of no more use. */
async function mint(generator) {
  let wrongSince = Number.POSITIVE_INFINITY;
  while (!isEnding) {
    try {
      mintSome(generator);
      held.isBorrowed = false;
      wrongSince = Number.POSITIVE_INFINITY;
    } catch (error) {
      if (error?.code === 'CLOCK') wrongSince = Math.min(wrongSince, performance.now());
      else if (error?.code !== 'LEASE_FENCED') throw error;
      if (performance.now() - wrongSince > CLOCK_PATIENCE) return tell('clock-wrong', why(error));
    }
    await sleep(STEP);
  }
}

async function work(store, take) {
  const lease = await take(store);
  if (!lease) return;
  held.lease = lease;
  const { id, epoch, from, until } = lease;
  tell('acquired', { id, epoch, from, until });
  for (const event of ['fenced', 'renewal-failed', 'reacquired']) {
    lease.on(event, (error) =>
      tell(
        event,
        error ? why(error) : { id: lease.id, epoch: lease.epoch, from: lease.from, until: lease.until },
      ),
    );
  }
  // An id of zeroes stands between the ids of two generators.
  writeSync(file, new Uint8Array(family === 'flake' ? 8 : 16));
  await mint(makeGenerator(lease));
  // A release would tell the store that nothing was minted in the window.
  if (held.isBorrowed) return tell('left without release');
  held.lease = undefined;
  await lease.release().then(
    () => tell('released', { until: lease.until }),
    (error) => tell('release-failed', why(error)),
  );
}

const store = watched(target.url ? await openStore(target.url) : openCluster(target.cluster));
if (task.continues) {
  tell('waiting');
  await work(store, continueCopy);
}
while (!isEnding) await work(store, acquire);
// Closing may wait for connections on which nothing will ever come.
await Promise.race([store.close().catch((error) => tell('close-failed', why(error))), sleep(2000)]);
tell('ended');
process.exit(0);
