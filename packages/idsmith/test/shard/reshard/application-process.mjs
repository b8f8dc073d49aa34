// An application that goes on reading and writing while keys are moved, through the map in transition. Told to stop, it
// prints what it has done, and what was wrong.

import { TransitionMap } from 'idsmith/shard';

const { from, to, id, counters, steady } = JSON.parse(process.argv[2]);
const map = new TransitionMap(from, to);
const problems = [];
const done = {
  reads: 0,
  writes: 0,
  minted: 0,
  increments: counters.map(() => 0),
  lists: {},
  hashes: {},
  gone: [],
};
let isOver = false;
process.once('message', () => {
  isOver = true;
});

const pick = (array) => array[Math.floor(Math.random() * array.length)];
const expect = (what, actual, expected) => {
  if (JSON.stringify(actual) !== JSON.stringify(expected))
    problems.push(`${what} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
};

/** Keys that others only read: none may ever be missing. */
async function readSteady() {
  const { key, value } = pick(steady);
  expect(`reading ${key}`, await map.getClient(key).get(key), value);
  done.reads++;
}

/** Counters that all workers raise: what each got is its own. */
async function increment() {
  const i = Math.floor(Math.random() * counters.length);
  // Answers of two masters may come in another order than the commands were run in.
  const before = done.increments[i];
  const answer = await map.getClient(counters[i]).incr(counters[i]);
  if (answer <= before) problems.push(`${counters[i]} fell back to ${answer}`);
  done.increments[i]++;
  done.writes++;
}

/** Keys of this worker alone: it knows what they hold, and whether they are there. */
const own = Array.from({ length: 300 }, (_, i) => ({
  key: map.fixedKey(5_000_000 + id * 10_000 + i, i, 3),
  list: 0,
  hash: undefined,
  isBusy: false,
}));

async function useOwn() {
  const thing = pick(own);
  if (thing.isBusy) return;
  thing.isBusy = true;
  const { key } = thing;
  const client = map.getClient(key);
  const dice = Math.random();
  if (dice < 0.4) {
    expect(`pushing to ${key}-list`, await client.rpush(`${key}-list`, thing.list), ++thing.list);
  } else if (dice < 0.7) {
    const value = `${id} ${done.writes}`;
    const [[, set], [, got]] = await client.multi().hset(key, 'f', value).hget(key, 'f').exec();
    expect(`writing ${key}`, [set, got], [thing.hash === undefined ? 1 : 0, value]);
    thing.hash = value;
  } else if (dice < 0.85) {
    expect(`reading ${key}`, await client.hget(key, 'f'), thing.hash ?? null);
    expect(`reading ${key}-list`, await client.llen(`${key}-list`), thing.list);
  } else {
    expect(`deleting ${key}`, await client.del(key), thing.hash === undefined ? 0 : 1);
    thing.hash = undefined;
    expect(`reading ${key}`, await client.exists(key), 0);
  }
  done.writes++;
  thing.isBusy = false;
}

/** New keys, minted and written at once. */
const minted = [];
async function mint() {
  const key = await map.genKey('user');
  await map.getClient(key).set(key, key, 'EX', 100_000);
  expect(`reading the new ${key}`, await map.getClient(key).get(key), key);
  minted.push(key);
  done.minted++;
}

async function loop(task, pauseMs) {
  while (!isOver) {
    try {
      await task();
    } catch (error) {
      problems.push(`${task.name}: ${error.stack}`);
      return;
    }
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

process.send('ready');
await Promise.all([
  ...Array.from({ length: 4 }, () => loop(readSteady, 0)),
  ...Array.from({ length: 2 }, () => loop(increment, 1)),
  ...Array.from({ length: 3 }, () => loop(useOwn, 1)),
  loop(mint, 5),
]);
await map.close();
const { reads, writes, increments } = done;
const things = own.map(({ key, list, hash }) => ({ key, list, hash }));
process.stdout.write(
  JSON.stringify({ reads, writes, increments, minted, things, problems: problems.slice(0, 20) }),
);
process.disconnect();
