import { defineLayout, layouts } from 'idsmith';
import { expect } from 'vitest';

export const NOW = Date.UTC(2026, 0, 2);

/** Four ids a millisecond, so that ticks fill up. */
export const tiny = defineLayout({ epoch: 0, timeBits: 45, nodeBits: 4, sequenceBits: 2 });

/** The sequence straddles the middle of the 64 bits. */
export const straddling = defineLayout({
  epoch: Date.UTC(2025),
  timeBits: 28,
  nodeBits: 30,
  sequenceBits: 6,
  tick: 1000,
  order: ['time', 'sequence', 'node'],
});

/** Few ids in a tick, with the sequence above the node, and in the upper half of the 64 bits. */
const middle = defineLayout({ ...tinyShape(8), order: ['time', 'sequence', 'node'] });
const upper = defineLayout({
  ...tinyShape(32),
  timeBits: 30,
  tick: 1000,
  order: ['time', 'sequence', 'node'],
});

export const smallLayouts = [tiny, middle, upper];
export const everyLayout = [...Object.values(layouts), ...smallLayouts, straddling];

function tinyShape(nodeBits: number) {
  return { epoch: Date.UTC(2025), timeBits: 41, nodeBits, sequenceBits: 2 };
}

export const named = (code: string) => expect.objectContaining({ code });

export function increasing(ids: bigint[]): boolean {
  return ids.every((id, i) => i === 0 || id > (ids[i - 1] as bigint));
}
