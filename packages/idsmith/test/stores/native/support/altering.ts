import type { Block } from 'idsmith';

/** The increments that a sequence is altered to, up and down, one after the other. */
export const INCREMENTS = Array.from({ length: 5 }, () => [90, 3, 40, 7, 100, 1, 25, 2, 60, 5, 80, 4]).flat();

/** Blocks that several take, each by a source of its own, until `altering` has ended. */
export async function drawWhile(allocate: () => Promise<Block>, altering: Promise<void>): Promise<Block[]> {
  const blocks: Block[] = [];
  let isAltering = true;
  const drawing = Array.from({ length: 4 }, async () => {
    while (isAltering) blocks.push(await allocate());
  });
  await altering.finally(() => {
    isAltering = false;
  });
  await Promise.all(drawing);
  return blocks;
}

/** Pairs of blocks that share an id. */
export function overlaps(blocks: readonly Block[]): Block[][] {
  const sorted = [...blocks].sort((a, b) => (a.first < b.first ? -1 : 1));
  return sorted.flatMap((block, i) => {
    const next = sorted[i + 1];
    return next !== undefined && block.first + BigInt(block.count) > next.first ? [[block, next]] : [];
  });
}
