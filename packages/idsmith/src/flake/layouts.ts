import { defineLayout } from './layout.js';

/** JFlake: 512 nodes, 8,192 ids a millisecond each, until 2083. Apart from the others, because it is the default of generators. */
export const jflake = defineLayout({ epoch: 1388534400000, timeBits: 41, nodeBits: 9, sequenceBits: 13 });

/** Presets: the layouts of well-known systems, and two for JavaScript numbers. */
export const layouts = {
  /** JFlake: 512 nodes, 8,192 ids a millisecond each, until 2083. */
  jflake,
  /** Twitter: 1,024 nodes, 4,096 ids a millisecond each, until 2080. */
  snowflake: defineLayout({ epoch: 1288834974657, timeBits: 41, nodeBits: 10, sequenceBits: 12 }),
  /** Instagram: 8,192 shards, 1,024 ids a millisecond each, until 2081. 64 bits: from 2046 on ids are negative in a signed column. */
  instagram: defineLayout({ epoch: 1314220021721, timeBits: 41, nodeBits: 13, sequenceBits: 10 }),
  /** Discord: worker and process as one node of 10 bits, until 2154; 64 bits. */
  discord: defineLayout({ epoch: 1420070400000, timeBits: 42, nodeBits: 10, sequenceBits: 12 }),
  /** Sonyflake: ticks of 10 ms, 65,536 machines, 256 ids a tick each, until 2188. */
  sonyflake: defineLayout({
    epoch: 1409529600000,
    timeBits: 39,
    nodeBits: 16,
    sequenceBits: 8,
    tick: 10,
    order: ['time', 'sequence', 'node'],
  }),
  /** 53 bits, so that an id is an exact JavaScript number: 32 nodes, 128 ids a millisecond each, until 2095. */
  safe53: defineLayout({ epoch: 1767225600000, timeBits: 41, nodeBits: 5, sequenceBits: 7 }),
  /**
   * 53 bits with many nodes, for the price of coarse time: ticks of a second, 1,024 nodes, 4,096 ids a second each, until 2094. More
   * ids in one second wait for the next.
   */
  seconds53: defineLayout({
    epoch: 1767225600000,
    timeBits: 31,
    nodeBits: 10,
    sequenceBits: 12,
    tick: 1000,
  }),
};
