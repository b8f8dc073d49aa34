import { partOf } from '../sequence/block.js';
import type { Block, SequenceOptions, SequenceStore } from '../sequence/port.js';
import { type ConformanceCase, equal, refused } from './conformance.js';

/**
 * What every sequence store must do. The cases define sequences of their own and remove them, so that they may run on one
 * store, in any order and at the same time.
 *
 * @param open gives the store under test; called once a case, and may give the same store each time
 *
 * @example
 * for (const { name, run } of sequenceStoreCases(() => myStore)) it(name, run);
 */
export function sequenceStoreCases(open: () => Promise<SequenceStore> | SequenceStore): ConformanceCase[] {
  return CASES.map(([name, check]) => ({
    name,
    run: async () => {
      const store = await open();
      const sequence = `conformance ${crypto.randomUUID()}`;
      await check(store, sequence);
      // Some cases remove it themselves.
      await store.removeSequence(sequence).catch(() => {});
    },
  }));
}

type Check = (store: SequenceStore, name: string) => Promise<void>;

const [MIN, MAX] = [-(2n ** 63n), 2n ** 63n - 1n];

/** A sequence with that definition, from which the ids of one allocation after the other are drawn. */
async function defined(store: SequenceStore, name: string, options: SequenceOptions = {}) {
  await store.defineSequence({ name, ...options });
  return async (blocks = 1) => idsOf(await store.allocate(name, blocks));
}

function idsOf({ first, step, count }: Block): bigint[] {
  return Array.from({ length: count }, (_, i) => first + BigInt(step) * BigInt(i));
}

const CASES: [name: string, check: Check][] = [
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
  [
    'a sequence is altered while it is used, and goes on where it was',
    async (store, name) => {
      const next = await defined(store, name, { blockSize: 2 });
      equal(await next(), [1n, 2n]);
      const { next: at, blockSize, step } = await store.alterSequence(name, { blockSize: 3, step: 5 });
      equal([at, blockSize, step], [3n, 3, 5]);
      equal(await next(), [3n, 8n, 13n]);
      equal((await store.alterSequence(name, { next: 100 })).next, 100n);
      equal(await next(), [100n, 105n, 110n]);
      equal((await store.alterSequence(name, {})).next, 115n);
    },
  ],
  [
    'a sequence that has ended goes on when its limit is moved, if ids are left',
    async (store, name) => {
      const next = await defined(store, name, { max: 4, blockSize: 4 });
      await next();
      await refused(next(), 'SEQUENCE_EXHAUSTED');
      await store.alterSequence(name, { max: 8 });
      equal(await next(), [5n, 6n, 7n, 8n]);
      await store.alterSequence(name, { max: 6 });
      await refused(next(), 'SEQUENCE_EXHAUSTED');
      await store.alterSequence(name, { max: MAX });
      equal((await next())[0], 9n);
      await store.removeSequence(name);
      const last = await defined(store, name, { start: MAX, blockSize: 1 });
      await last();
      equal((await store.alterSequence(name, { min: 0 })).exhausted, true);
      await refused(store.alterSequence(name, { next: 5 }), 'INVALID_OPTION');
      await refused(last(), 'SEQUENCE_EXHAUSTED');
    },
  ],
  [
    'what would give ids out twice is not altered',
    async (store, name) => {
      const next = await defined(store, name, { blockSize: 2 });
      await next();
      const before = await store.describeSequence(name);
      const wrong = [
        { next: 2 },
        { next: 11, max: 10 },
        { step: -1 },
        { step: 0 },
        { blockSize: 0 },
        { min: 5, max: 4 },
        { start: 1 },
      ];
      for (const changes of wrong) await refused(store.alterSequence(name, changes), 'INVALID_OPTION');
      equal(await store.describeSequence(name), before);
    },
  ],
  [
    'an unused end is taken back if nobody has allocated since',
    async (store, name) => {
      if (store.giveBack === undefined) return;
      await store.defineSequence({ name, blockSize: 10, max: 20 });
      const [one, two] = [await store.allocate(name, 1), await store.allocate(name, 1)];
      const tailOf = (block: Block) => partOf(block, 5, 5);
      equal(await store.giveBack(name, tailOf(one)), false);
      equal(await store.giveBack(name, tailOf(two)), true);
      equal(await store.giveBack(name, tailOf(two)), false);
      const { next, exhausted } = await store.describeSequence(name);
      equal([next, exhausted], [16n, false]);
      await store.alterSequence(name, { blockSize: 5 });
      equal(idsOf(await store.allocate(name, 1)), [16n, 17n, 18n, 19n, 20n]);
    },
  ],
  [
    'an unused end is not taken back by another sequence of the same name, or by a cycle',
    async (store, name) => {
      if (store.giveBack === undefined) return;
      for (const cycle of [false, true]) {
        await store.defineSequence({ name, blockSize: 10, max: 1000, cycle });
        const block = await store.allocate(name, 1);
        if (cycle) await store.alterSequence(name, { cycle: false });
        else {
          await store.removeSequence(name);
          await store.defineSequence({ name, blockSize: 10 });
          await store.allocate(name, 1);
        }
        equal(await store.giveBack(name, partOf(block, 5, 5)), false);
        await store.removeSequence(name);
      }
      equal(await store.giveBack(name, { first: 1n, step: 1, count: 1, origin: 0 }), false);
      for (const tail of [{ count: -1 }, { count: 1.5 }, { step: 0 }, { first: 1 as never }])
        await refused(store.giveBack(name, { first: 1n, step: 1, count: 1, ...tail }), 'INVALID_OPTION');
    },
  ],
  [
    'many who allocate at once share no id and leave no gap',
    async (store, name) => {
      await store.defineSequence({ name, blockSize: 3 });
      const blocks = await Promise.all(
        Array.from({ length: 64 }, (_, i) => store.allocate(name, 1 + (i % 2))),
      );
      const ids = blocks.flatMap(idsOf).sort((a, b) => (a < b ? -1 : 1));
      equal(
        ids,
        Array.from({ length: 96 * 3 }, (_, i) => BigInt(i + 1)),
      );
    },
  ],
  [
    'many who allocate the last blocks at once get each of them once',
    async (store, name) => {
      await store.defineSequence({ name, blockSize: 3, max: 32 });
      const outcomes = await Promise.allSettled(Array.from({ length: 16 }, () => store.allocate(name, 1)));
      const ids = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? idsOf(outcome.value) : []));
      equal(
        ids.sort((a, b) => (a < b ? -1 : 1)),
        Array.from({ length: 30 }, (_, i) => BigInt(i + 1)),
      );
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') equal(outcome.reason?.code, 'SEQUENCE_EXHAUSTED');
    },
  ],
  [
    'a jump from one end of 64 bits to the other is exact',
    async (store, name) => {
      const step = Number.MAX_SAFE_INTEGER;
      const next = await defined(store, name, { start: MIN, step, blockSize: 1025 });
      equal((await next())[1024], MIN + BigInt(step) * 1024n);
      equal((await store.describeSequence(name)).next, MIN + BigInt(step) * 1025n);
    },
  ],
  [
    'a sequence that many allocate from is ended by its limit',
    async (store, name) => {
      await store.defineSequence({ name, blockSize: 1 });
      let isOver = false;
      const users = Array.from({ length: 8 }, async () => {
        while (!isOver) {
          const taken = await store.allocate(name, 1).catch((error: { code?: unknown }) => error);
          if ('code' in taken) {
            equal(taken.code, 'SEQUENCE_EXHAUSTED');
            isOver = true;
          }
        }
      });
      await store.allocate(name, 5);
      const { exhausted } = await store.alterSequence(name, { max: 5 });
      equal(exhausted, true);
      await Promise.all(users);
      equal((await store.describeSequence(name)).exhausted, true);
      await refused(store.allocate(name, 1), 'SEQUENCE_EXHAUSTED');
    },
  ],
  [
    'a sequence is altered while many allocate, and no id comes twice',
    async (store, name) => {
      await store.defineSequence({ name, blockSize: 2 });
      const work: Promise<Block>[] = [];
      for (let round = 0; round < 8; round++) {
        for (let i = 0; i < 8; i++) work.push(store.allocate(name, 1));
        await store.alterSequence(name, { blockSize: 2 + round, step: 1 + (round % 3) });
      }
      const ids = (await Promise.all(work)).flatMap(idsOf);
      equal(new Set(ids).size, ids.length);
    },
  ],
];
