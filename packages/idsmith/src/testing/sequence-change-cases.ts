import { partOf } from '../sequence/block.js';
import type { Block } from '../sequence/port.js';
import { equal, refused } from './conformance.js';
import { defined, idsOf, MAX, MIN, type SequenceCase } from './sequence-case.js';

/** Cases of changes: a sequence altered, blocks given back, many callers at once. */
export const changeCases: SequenceCase[] = [
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
      // Five ids are left, and a block needs ten.
      equal([next, exhausted], [16n, true]);
      equal((await store.listSequences()).find((info) => info.name === name)?.exhausted, true);
      equal((await store.alterSequence(name, { blockSize: 5 })).exhausted, false);
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
      // A user that fails early is heard at the end, and is no unhandled rejection until then.
      const allUsers = Promise.all(users);
      allUsers.catch(() => {});
      try {
        await store.allocate(name, 5);
        const { exhausted } = await store.alterSequence(name, { max: 5 });
        equal(exhausted, true);
        await allUsers;
      } finally {
        // A case that fails leaves nobody at work.
        isOver = true;
        await Promise.allSettled(users);
      }
      equal((await store.describeSequence(name)).exhausted, true);
      await refused(store.allocate(name, 1), 'SEQUENCE_EXHAUSTED');
    },
  ],
  [
    'a sequence is altered while many allocate, and no id comes twice',
    async (store, name) => {
      await store.defineSequence({ name, blockSize: 2 });
      const work: Promise<Block>[] = [];
      try {
        for (let round = 0; round < 8; round++) {
          for (let i = 0; i < 8; i++) {
            const allocation = store.allocate(name, 1);
            // One that fails early is heard at the end, and is no unhandled rejection until then.
            allocation.catch(() => {});
            work.push(allocation);
          }
          await store.alterSequence(name, { blockSize: 2 + round, step: 1 + (round % 3) });
        }
      } finally {
        await Promise.allSettled(work);
      }
      const ids = (await Promise.all(work)).flatMap(idsOf);
      equal(new Set(ids).size, ids.length);
    },
  ],
];
