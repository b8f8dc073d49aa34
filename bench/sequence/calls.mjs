// What a call costs when ids are at hand, beside what nothing but counting would cost.

import { memoryStore, Sequences } from 'idsmith';
import { measure, versionOf } from '../harness.mjs';

const ours = versionOf('idsmith');

/** A sequence whose one block never ends, so that nothing but the call is timed. */
async function endless(name) {
  const source = { allocate: async () => ({ first: 1n, step: 1, count: 2 ** 50 }) };
  const sequence = await new Sequences(memoryStore()).get(name, { source, prefetch: 0 });
  await sequence.next();
  return sequence;
}

/** Nanoseconds a call, of ours and of bare closures. */
export async function measureCalls() {
  const [numbers, bigints] = [await endless('numbers'), await endless('bigints')];
  let n = 1;
  let b = 1n;
  const bareNumber = () => n++;
  const bareBigint = () => (b += 1n);
  return measure([
    { name: 'takeNumber()', version: ours, call: () => numbers.takeNumber() },
    { name: 'bare () => n++', version: '', call: () => bareNumber() },
    { name: 'take()', version: ours, call: () => bigints.take() },
    { name: 'bare () => n += 1n', version: '', call: () => bareBigint() },
  ]);
}

const ROUNDS = 21;
const CALLS = 500_000;

/** Nanoseconds an `await`, of ours and of a value that is there. */
export async function measureAwaits() {
  const sequence = await endless('awaited');
  const numbers = await endless('awaited numbers');
  const value = 2n ** 40n;
  const lanes = {
    'await next()': async () => {
      let last = 0n;
      for (let i = 0; i < CALLS; i++) last = await sequence.next();
      return last;
    },
    'await nextNumber()': async () => {
      let last = 0;
      for (let i = 0; i < CALLS; i++) last = await numbers.nextNumber();
      return last;
    },
    'await of a resolved value': async () => {
      let last = 0n;
      for (let i = 0; i < CALLS; i++) last = await Promise.resolve(value);
      return last;
    },
  };
  const times = new Map(Object.keys(lanes).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, lane] of Object.entries(lanes)) {
      const start = performance.now();
      await lane();
      times.get(name).push(((performance.now() - start) * 1e6) / CALLS);
    }
  return [...times].map(([name, all]) => ({
    name,
    version: name.includes('next') ? ours : '',
    nanoseconds: all.sort((a, b) => a - b)[ROUNDS >> 1],
  }));
}
