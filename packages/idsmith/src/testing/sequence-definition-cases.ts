import type { SequenceOptions } from '../sequence/port.js';
import { equal, refused } from './conformance.js';
import { defined, MAX, MIN, type SequenceCase } from './sequence-case.js';

/** Cases of definitions: the ids of a sequence, its limits, its name. */
export const definitionCases: SequenceCase[] = [
  [
    'a sequence starts at 1 in blocks of 20, unless told otherwise',
    async (store, name) => {
      const next = await defined(store, name);
      equal(await store.describeSequence(name), {
        name,
        start: 1n,
        next: 1n,
        blockSize: 20,
        step: 1,
        min: MIN,
        max: MAX,
        cycle: false,
        exhausted: false,
      });
      equal((await next()).at(-1), 20n);
      equal((await next())[0], 21n);
      equal((await store.describeSequence(name)).next, 41n);
    },
  ],
  [
    'a sequence is described as it was defined',
    async (store, name) => {
      const options = { start: -5n, blockSize: 7, step: -3, min: -(2n ** 60n), max: 2n ** 60n, cycle: true };
      await store.defineSequence({ name, ...options });
      equal(await store.describeSequence(name), { name, ...options, next: -5n, exhausted: false });
    },
  ],
  [
    'several blocks are one run',
    async (store, name) => {
      const next = await defined(store, name, { blockSize: 3 });
      equal(await next(4), [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n, 10n, 11n, 12n]);
      equal(await next(), [13n, 14n, 15n]);
    },
  ],
  [
    'no digit of a large id is lost',
    async (store, name) => {
      for (const start of [2n ** 53n + 1n, MAX - 2n, MIN, -(2n ** 53n) - 1n]) {
        const next = await defined(store, name, { start, blockSize: 3 });
        equal(await next(), [start, start + 1n, start + 2n]);
        await store.removeSequence(name);
      }
    },
  ],
  [
    'a block that ends at the limit is given, and is the last',
    async (store, name) => {
      const next = await defined(store, name, { start: MAX - 5n, blockSize: 3 });
      equal((await next()).at(-1), MAX - 3n);
      equal((await store.describeSequence(name)).exhausted, false);
      equal((await next()).at(-1), MAX);
      equal((await store.describeSequence(name)).exhausted, true);
      await refused(next(), 'SEQUENCE_EXHAUSTED');
      await refused(next(), 'SEQUENCE_EXHAUSTED');
    },
  ],
  [
    'ids that do not fill a block are not given',
    async (store, name) => {
      const next = await defined(store, name, { max: 10, blockSize: 4 });
      equal(await next(5), [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n]);
      const before = await store.describeSequence(name);
      await refused(next(), 'SEQUENCE_EXHAUSTED');
      equal(await store.describeSequence(name), before);
    },
  ],
  [
    'a sequence descends, by any step',
    async (store, name) => {
      const next = await defined(store, name, { start: 5, step: -3, blockSize: 2, min: -10 });
      equal(await next(), [5n, 2n]);
      equal(await next(9), [-1n, -4n, -7n, -10n]);
      await refused(next(), 'SEQUENCE_EXHAUSTED');
    },
  ],
  [
    'a descending sequence ends at −2^63',
    async (store, name) => {
      const next = await defined(store, name, { start: MIN + 2n, step: -1, blockSize: 3 });
      equal(await next(), [MIN + 2n, MIN + 1n, MIN]);
      await refused(next(), 'SEQUENCE_EXHAUSTED');
    },
  ],
  [
    'a cycle starts over from its lowest id, or descending from its highest',
    async (store, name) => {
      const up = await defined(store, name, { start: 3, min: 1, max: 7, blockSize: 2, cycle: true });
      equal([await up(), await up(), await up()].flat(), [3n, 4n, 5n, 6n, 1n, 2n]);
      await store.removeSequence(name);
      const down = await defined(store, name, { start: 4, min: 1, step: -1, blockSize: 2, cycle: true });
      equal([await down(), await down(), await down()].flat(), [4n, 3n, 2n, 1n, 4n, 3n]);
    },
  ],
  [
    'a sequence is not defined twice, and the first stays as it is',
    async (store, name) => {
      const next = await defined(store, name, { start: 10 });
      await refused(store.defineSequence({ name, start: 99 }), 'SEQUENCE_EXISTS');
      equal((await next())[0], 10n);
    },
  ],
  [
    'of many who define a sequence at once, one does',
    async (store, name) => {
      const attempts = Array.from({ length: 16 }, (_, i) => store.defineSequence({ name, start: i }));
      const outcomes = await Promise.allSettled(attempts);
      const winner = outcomes.findIndex(({ status }) => status === 'fulfilled');
      equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
      equal((await store.describeSequence(name)).start, BigInt(winner));
    },
  ],
  [
    'what is not defined cannot be used',
    async (store, name) => {
      await refused(store.allocate(name, 1), 'NO_SUCH_SEQUENCE');
      await refused(store.describeSequence(name), 'NO_SUCH_SEQUENCE');
      await refused(store.alterSequence(name, { blockSize: 5 }), 'NO_SUCH_SEQUENCE');
      await refused(store.removeSequence(name), 'NO_SUCH_SEQUENCE');
      equal((await store.listSequences()).filter((info) => info.name === name).length, 0);
    },
  ],
  [
    'a sequence that was removed is gone, also for those who used it',
    async (store, name) => {
      const next = await defined(store, name);
      await next();
      await store.removeSequence(name);
      await refused(next(), 'NO_SUCH_SEQUENCE');
      await store.defineSequence({ name, start: 7, blockSize: 2 });
      equal(await next(), [7n, 8n]);
    },
  ],
  [
    'wrong definitions are refused, and leave nothing behind',
    async (store, name) => {
      const wrong: SequenceOptions[] = [
        { blockSize: 0 },
        { blockSize: 2 ** 31 },
        { blockSize: 1.5 },
        { step: 0 },
        { step: 0.5 },
        { start: 2n ** 63n },
        { start: 2 ** 53 },
        { start: 0, min: 1 },
        { start: 11, max: 10 },
        { min: 5, max: 4 },
      ];
      for (const options of wrong)
        await refused(store.defineSequence({ name, ...options }), 'INVALID_OPTION');
      await refused(store.describeSequence(name), 'NO_SUCH_SEQUENCE');
      for (const bad of ['', 'x'.repeat(256), `o'brien`, 'a"b', 'a\0b', '{a}', ' a', 'a\n', '\ud800']) {
        await refused(store.defineSequence({ name: bad }), 'INVALID_OPTION');
        await refused(store.allocate(bad, 1), 'INVALID_OPTION');
      }
      await defined(store, name);
      for (const blocks of [0, -1, 1.5, Number.NaN, 2 ** 21])
        await refused(store.allocate(name, blocks), 'INVALID_OPTION');
      equal((await store.describeSequence(name)).next, 1n);
    },
  ],
  [
    'names are told apart to the last character',
    async (store, name) => {
      const names = ['x', 'X', 'a:b', 'a/b', '-- ;', '%', '_', 'ü', 'u', '🔑', '\\'].map(
        (end) => `${name}${end}`,
      );
      names.push(name.padEnd(255, 'x'));
      for (const [i, each] of names.entries()) await store.defineSequence({ name: each, start: i });
      const listed = (await store.listSequences()).filter((info) => info.name.startsWith(name));
      equal(
        listed.map((info) => info.name),
        [...names].sort(),
      );
      for (const [i, each] of names.entries()) equal((await store.allocate(each, 1)).first, BigInt(i));
      for (const each of names) await store.removeSequence(each);
    },
  ],
];
