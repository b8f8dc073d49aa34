import {
  type Block,
  type BlockSource,
  InvalidOptionError,
  memoryStore,
  Sequences,
  StoreError,
} from 'idsmith';
import { describe, expect, it } from 'vitest';

const range = (first: number, count: number) => Array.from({ length: count }, (_, i) => BigInt(first + i));
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

/** Blocks of ten, as many as are asked for. */
function counting(): BlockSource & { asked: number[] } {
  const asked: number[] = [];
  let next = 1n;
  return {
    asked,
    async allocate(blocks) {
      asked.push(blocks);
      await undefined;
      next += BigInt(10 * blocks);
      return { first: next - BigInt(10 * blocks), step: 1, count: 10 * blocks };
    },
  };
}

const on = (source: BlockSource, prefetch: 'adaptive' | number = 0) =>
  new Sequences(memoryStore()).get('x', { source, prefetch });

describe('large steps', () => {
  it.each([
    [300_000_000, 20],
    [-300_000_000, 20],
    [2 ** 29, 9],
    [2 ** 30, 5],
    [2 ** 30 + 1, 5],
    [-(2 ** 31), 5],
    [2 ** 33 - 1, 5],
    [-(2 ** 40), 5],
  ])('of %s give the ids they should, and their end back', async (step, blockSize) => {
    for (const prefetch of [0, 2, 'adaptive'] as const) {
      const sequences = new Sequences(memoryStore());
      await sequences.define('x', { step, blockSize });
      const sequence = await sequences.get('x', { prefetch });
      const ids: bigint[] = [];
      for (let i = 0; i < blockSize * 3; i++)
        ids.push(i % 2 ? await sequence.next() : BigInt(await sequence.nextNumber()));
      expect(ids).toEqual(Array.from({ length: blockSize * 3 }, (_, i) => 1n + BigInt(step) * BigInt(i)));
      await sequence.close();
      expect((await sequences.describe('x')).next).toBe(1n + BigInt(step) * BigInt(blockSize * 3));
    }
  });

  it('a run of 2^31 − 1 ids is given back from the middle', async () => {
    const sequences = new Sequences(memoryStore());
    await sequences.define('x', { start: -5, blockSize: 2 ** 31 - 1 });
    const sequence = await sequences.get('x', { prefetch: 1 });
    expect(await sequence.batch(10)).toEqual(range(-5, 10));
    await sequence.close();
    expect((await sequences.describe('x')).next).toBe(5n);
  });

  it('numbers begin where ids that come up from below −2^53 are exact', async () => {
    const sequences = new Sequences(memoryStore());
    await sequences.define('x', { start: -(2n ** 53n) - 3n, blockSize: 10 });
    const sequence = await sequences.get('x');
    for (let i = 0; i < 4; i++) {
      await expect(sequence.nextNumber()).rejects.toThrow('2^53');
      await sequence.next();
    }
    expect(await sequence.nextNumber()).toBe(-(2 ** 53) + 1);
  });
});

describe('a batch', () => {
  it('that meets close() is refused, and holds nothing', async () => {
    const sequences = new Sequences(memoryStore());
    await sequences.define('x', { blockSize: 2 });
    const sequence = await sequences.get('x', { prefetch: 3 });
    await sequence.next();
    const [before, closing, after] = [sequence.batch(30), sequence.close(), sequence.batch(1)];
    await expect(before).rejects.toThrow('closed');
    await expect(after).rejects.toThrow('closed');
    await closing;
  });

  it('is filled beside many who take one by one, and those after it in turn', async () => {
    const sequence = await on(counting());
    let isOver = false;
    const drawn: bigint[] = [];
    const loops = Array.from({ length: 20 }, async () => {
      while (!isOver) drawn.push(await sequence.next());
    });
    const batches = await Promise.all([sequence.batch(55), sequence.batch(33)]);
    isOver = true;
    await Promise.all(loops);
    const ids = [...batches.flat(), ...drawn];
    expect(new Set(ids).size).toBe(ids.length);
    for (const batch of batches) expect(batch).toEqual([...batch].sort((a, b) => Number(a - b)));
  });

  it('does not take longer for each id the more runs there are', async () => {
    const sequence = await on(counting());
    const timeFor = async (count: number) => {
      const start = performance.now();
      expect(await sequence.batch(count)).toHaveLength(count);
      return (performance.now() - start) / count;
    };
    await timeFor(20_000);
    const [few, many] = [await timeFor(20_000), await timeFor(200_000)];
    // Quadratic, it would be ten times as long.
    expect(many / few).toBeLessThan(5);
  });
});

describe('what take() finds empty', () => {
  it('is filled for the next time, also after an outage, unless prefetch is 0', async () => {
    let isAway = true;
    const source = counting();
    const flaky: BlockSource = {
      async allocate(blocks) {
        if (isAway) throw new StoreError('away');
        return source.allocate(blocks);
      },
    };
    const sequence = await on(flaky, 'adaptive');
    expect(sequence.take()).toBeUndefined();
    await settled();
    isAway = false;
    expect(sequence.take()).toBeUndefined();
    await settled();
    expect(sequence.take()).toBe(1n);
    const plain = await on(source, 0);
    plain.take();
    await settled();
    expect(source.asked).toHaveLength(1);
  });
});

describe('a source', () => {
  it('may use its block object again', async () => {
    const block = { first: 1n, step: 1, count: 10 };
    let next = 1n;
    const sequence = await on(
      {
        async allocate() {
          block.first = next;
          next += 10n;
          return block;
        },
      },
      3,
    );
    expect(await sequence.batch(35)).toEqual(range(1, 35));
  });

  it('may give back without a promise, and need not be able to', async () => {
    const returned: Block[] = [];
    const source = { ...counting(), giveBack: ((tail: Block) => returned.push(tail) > 0) as never };
    const sequence = await on(source);
    await sequence.next();
    await sequence.close();
    expect(returned).toEqual([{ first: 2n, step: 1, count: 9 }]);
    const other = await on(counting());
    await other.next();
    await expect(other.close()).resolves.toBeUndefined();
  });

  it('whose blocks have grown is not asked for as many of them again', async () => {
    let size = 20;
    const counts: number[] = [];
    const sequence = await on(
      {
        async allocate(blocks) {
          counts.push(blocks * size);
          return { first: 1n, step: 1, count: blocks * size };
        },
      },
      'adaptive',
    );
    await sequence.batch(100_000);
    size = 1_000_000;
    for (let i = 0; i < 3; i++) {
      counts.length = 0;
      for (let taken = 0; counts.length === 0 && taken < 1e9; taken++) {
        if (sequence.take() === undefined) await sequence.next();
        if (taken % 1000 === 0) await undefined;
      }
      if (i > 0) expect(Math.max(...counts)).toBeLessThanOrEqual(2 ** 24);
      await sequence.batch(Math.min(2 ** 24, counts[0]!));
    }
  });

  it('is not asked in the moment of closing', async () => {
    const source = counting();
    const sequence = await on(source, 'adaptive');
    await sequence.next();
    for (let i = 0; i < 6; i++) sequence.take();
    await sequence.close();
    expect(source.asked).toHaveLength(1);
  });
});

describe('the factory', () => {
  it('gives another sequence after the first was removed and defined anew', async () => {
    const sequences = new Sequences(memoryStore());
    await sequences.define('x');
    const old = await sequences.get('x');
    await old.next();
    await sequences.remove('x');
    await sequences.define('x');
    const sequence = await sequences.get('x');
    expect(sequence).not.toBe(old);
    expect(await sequence.batch(40)).toEqual(range(1, 40));
    await old.close();
    expect(await sequences.get('x')).toBe(sequence);
  });

  it('refuses options of get that it does not know, and takes undefined for left out', async () => {
    const sequences = new Sequences(memoryStore());
    await sequences.define('x');
    await expect(sequences.get('x', { prefech: 3 } as never)).rejects.toThrow('"prefech"');
    const sequence = await sequences.get('x', { prefetch: undefined } as never);
    expect(await sequences.get('x', { prefetch: 'adaptive' })).toBe(sequence);
  });

  it('refuses what can allocate and nothing else', () => {
    expect(() => new Sequences({ allocate() {} } as never)).toThrow(InvalidOptionError);
  });
});

describe('iteration', () => {
  it('that waits when the sequence is closed ends', async () => {
    const sequence = await on({ allocate: () => settled().then(() => ({ first: 1n, step: 1, count: 1 })) });
    const ids: bigint[] = [];
    setTimeout(() => void sequence.close(), 12);
    for await (const id of sequence) ids.push(id);
    expect(ids.length).toBeGreaterThan(0);
  });
});
