import type { LayoutOptions } from './decode.js';

// The bits of well-known systems, as plain data. `layouts` makes layouts of them, and documents each.

/** Apart from the others, because it is the default of generators. */
export const JFLAKE: LayoutOptions = { epoch: 1388534400000, timeBits: 41, nodeBits: 9, sequenceBits: 13 };

export const PRESETS = {
  jflake: JFLAKE,
  snowflake: { epoch: 1288834974657, timeBits: 41, nodeBits: 10, sequenceBits: 12 },
  instagram: { epoch: 1314220021721, timeBits: 41, nodeBits: 13, sequenceBits: 10 },
  discord: { epoch: 1420070400000, timeBits: 42, nodeBits: 10, sequenceBits: 12 },
  sonyflake: {
    epoch: 1409529600000,
    timeBits: 39,
    nodeBits: 16,
    sequenceBits: 8,
    tick: 10,
    order: ['time', 'sequence', 'node'],
  },
  safe53: { epoch: 1767225600000, timeBits: 41, nodeBits: 5, sequenceBits: 7 },
  seconds53: { epoch: 1767225600000, timeBits: 31, nodeBits: 10, sequenceBits: 12, tick: 1000 },
} as const satisfies Record<string, LayoutOptions>;
