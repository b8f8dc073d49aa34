// How many statements callers need who ask for many ids, and how many ids stay at hand. The store answers after a millisecond.

import { memoryStore, Sequences } from 'idsmith';

const BLOCK = 20;

/** An adaptive sequence in memory that counts its fetches and the ids it has taken. */
async function counted() {
  const store = memoryStore();
  const counts = { fetches: 0, ids: 0 };
  const { allocate } = store;
  store.allocate = async (name, blocks) => {
    counts.fetches++;
    counts.ids += blocks * BLOCK;
    await new Promise((resolve) => setTimeout(resolve, 1));
    return allocate(name, blocks);
  };
  const sequences = new Sequences(store);
  await sequences.define('orders', { blockSize: BLOCK });
  return { sequence: await sequences.get('orders'), counts };
}

/** Each bar with its figure. */
export async function measureDemand() {
  const steady = await counted();
  for (let i = 0; i < 200; i++) await steady.sequence.batch(100);
  const before = steady.counts.fetches;
  let calls = 0;
  for (const end = performance.now() + 1000; performance.now() < end; calls++)
    await steady.sequence.batch(100);
  const concurrent = await counted();
  await Promise.all(Array.from({ length: 200 }, () => concurrent.sequence.batch(100)));
  const burst = await counted();
  await Promise.all(Array.from({ length: 100_000 }, () => burst.sequence.next()));
  await new Promise((resolve) => setTimeout(resolve, 20));
  const loop = await counted();
  let used = 0;
  for (const end = performance.now() + 3000; performance.now() < end; used++) await loop.sequence.next();
  const held = loop.sequence.status().available;
  return [
    {
      what: 'batch(100), blocks of 20: statements a call',
      figure: (steady.counts.fetches - before) / calls,
      most: 0.05,
    },
    { what: '200 batch(100) at once: fetches', figure: concurrent.counts.fetches, most: 3 },
    { what: 'a burst of 100,000 next(): ids taken', figure: burst.counts.ids, most: 100_000 + 2 * BLOCK },
    { what: 'a loop of 3 s: ms of its use that stay at hand', figure: (held / used) * 3000, most: 30 },
  ];
}
