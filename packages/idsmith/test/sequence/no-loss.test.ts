import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sequences, type Store } from 'idsmith';
import { openStore } from 'idsmith/stores';
import { afterAll, describe, expect, it } from 'vitest';
import { describeWith, shared } from '#services';

// Nothing is lost in these tests, so nobody may hear of a loss. A store has a memory of its own, as a process has.

const folder = mkdtempSync(join(tmpdir(), 'no-loss-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A process that draws, and gives back what it has not used when it closes. */
async function process(store: Store, name: string) {
  const sequences = new Sequences(store);
  const sequence = await sequences.get(name, { prefetch: 1 });
  return { next: (count: number) => sequence.batch(count), close: () => sequences.close() };
}

async function givesBackInTurn(url: string): Promise<void> {
  const [one, two] = [await openStore(url), await openStore(url)];
  const name = `orders-${globalThis.process.pid}-${Date.now()}`;
  try {
    await one.defineSequence({ name });
    const a = await one.allocate(name, 1);
    const b = await two.allocate(name, 1);
    const c = await one.allocate(name, 1);
    // The first process gives back all of its last block, then the other one the block before.
    expect(await one.giveBack?.(name, c)).toBe(true);
    expect(await two.giveBack?.(name, b)).toBe(true);
    expect(await one.allocate(name, 1)).toEqual(b);
    expect((await one.describeSequence(name)).next).toBe(a.first + 40n);
    // The same by sequences that prefetch and close, in waves.
    const all = new Set<bigint>();
    for (let wave = 0; wave < 12; wave++) {
      const drawing = await Promise.all([one, two, one, two].map((store) => process(store, name)));
      for (const { next } of drawing) for (const id of await next(1 + ((wave * 7) % 23))) all.add(id);
      for (const { close } of wave % 2 ? drawing : drawing.reverse()) await close();
    }
    const drawn = Array.from({ length: 12 }, (_, wave) => 4 * (1 + ((wave * 7) % 23)));
    expect(all.size).toBe(drawn.reduce((sum, count) => sum + count));
    expect((await one.describeSequence(name)).next).toBeLessThan(20_000n);
  } finally {
    await Promise.all([one.close(), two.close()]);
  }
}

describe('processes that give numbers back in turn hear of no loss', () => {
  it('on SQLite', () => givesBackInTurn(`sqlite:${join(folder, 'ids.db')}`));
});

await describeWith(['postgres'], 'processes that give numbers back in turn hear of no loss', () => {
  it('on PostgreSQL', async () => givesBackInTurn((await shared('postgres')).url));
});
