// An application that goes on reading and writing while keys are moved, through the map in transition. Told to stop, it
// prints what it has done, and what was wrong.

import process from 'node:process';
import { TransitionMap } from '@idsmith/shard';
import type { Application, Work } from './kill-under-load.js';

const { from, to, id, counters, steady } = JSON.parse(process.argv[2] as string) as Application;
const map = new TransitionMap(from, to);
const problems: string[] = [];
const done = { reads: 0, writes: 0, increments: counters.map(() => 0) };
let isOver = false;
process.once('message', () => {
  isOver = true;
});

const pick = <T>(array: readonly T[]) => array[Math.floor(Math.random() * array.length)] as T;
const expect = (what: string, actual: unknown, expected: unknown) => {
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
  const key = counters[i] as string;
  const before = done.increments[i] as number;
  const answer = await map.getClient(key).incr(key);
  if (answer <= before) problems.push(`${key} fell back to ${answer}`);
  (done.increments[i] as number)++;
  done.writes++;
}

interface Thing {
  readonly key: string;
  list: number;
  hash: string | undefined;
  isBusy: boolean;
}

/** Keys of this worker alone: it knows what they hold, and whether they are there. */
const own = Array.from(
  { length: 300 },
  (_, i): Thing => ({
    key: map.fixedKey(5_000_000 + id * 10_000 + i, i, 3),
    list: 0,
    hash: undefined,
    isBusy: false,
  }),
);

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
const minted: string[] = [];
async function mint() {
  const key = await map.genKey('user');
  await map.getClient(key).set(key, key, 'EX', 100_000);
  expect(`reading the new ${key}`, await map.getClient(key).get(key), key);
  minted.push(key);
}

async function loop(task: () => Promise<void>, pauseMs: number): Promise<void> {
  while (!isOver) {
    try {
      await task();
    } catch (error) {
      problems.push(`${task.name}: ${(error as Error).stack}`);
      return;
    }
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

process.send?.('ready');
await Promise.all([
  ...Array.from({ length: 4 }, () => loop(readSteady, 0)),
  ...Array.from({ length: 2 }, () => loop(increment, 1)),
  ...Array.from({ length: 3 }, () => loop(useOwn, 1)),
  loop(mint, 5),
]);
await map.close();
const things = own.map(({ key, list, hash }) => ({ key, list, ...(hash !== undefined && { hash }) }));
const work: Work = { ...done, minted, things, problems: problems.slice(0, 20) };
process.stdout.write(JSON.stringify(work));
process.disconnect?.();
