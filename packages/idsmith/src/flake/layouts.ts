import { JFLAKE, PRESETS } from './decode.js';
import { defineLayout, type Layout } from './layout.js';

/** The default of generators, which need none of the others. */
export const jflake = defineLayout(JFLAKE);

/** Presets: the layouts of well-known systems, and two for JavaScript numbers. */
export const layouts = {
  /** JFlake: 512 nodes, 8,192 ids a millisecond each, until 2083. */
  jflake,
  /** Twitter: 1,024 nodes, 4,096 ids a millisecond each, until 2080. */
  snowflake: defineLayout(PRESETS.snowflake),
  /** Instagram: 8,192 shards, 1,024 ids a millisecond each, until 2081. 64 bits: from 2046 on ids are negative in a signed column. */
  instagram: defineLayout(PRESETS.instagram),
  /** Discord: worker and process as one node of 10 bits, until 2154; 64 bits. */
  discord: defineLayout(PRESETS.discord),
  /** Sonyflake: ticks of 10 ms, 65,536 machines, 256 ids a tick each, until 2188. */
  sonyflake: defineLayout(PRESETS.sonyflake),
  /** 53 bits, so that an id is an exact JavaScript number: 32 nodes, 128 ids a millisecond each, until 2095. */
  safe53: defineLayout(PRESETS.safe53),
  /**
   * 53 bits with many nodes, for the price of coarse time: ticks of a second, 1,024 nodes, 4,096 ids a second each, until 2094. More
   * ids in one second wait for the next.
   */
  seconds53: defineLayout(PRESETS.seconds53),
};

/** The namespace of the pool that all flakes of a store with this layout share: the name of a preset, else the fingerprint. */
export function poolOf({ fingerprint }: Layout): string {
  const [name] = Object.entries(layouts).find(([, each]) => each.fingerprint === fingerprint) ?? [
    fingerprint,
  ];
  return name;
}
