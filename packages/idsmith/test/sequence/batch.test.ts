import { memoryStore, Sequences } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { on, range, TestSource } from './support/sources.ts';

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
    const sequence = await on(new TestSource());
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

  it('of 20,000 runs asks the source once for each run', async () => {
    const source = new TestSource();
    const sequence = await on(source);
    expect(await sequence.batch(200_000)).toEqual(range(1, 200_000));
    expect(source.asked).toHaveLength(20_000);
  });
});
