/** The options of `defineLayout`. */
export interface LayoutOptions {
  /** Unix milliseconds at which the time field is zero. */
  epoch: number;
  timeBits: number;
  nodeBits: number;
  sequenceBits: number;
  /** The length of a tick, the unit of the time field, in milliseconds. Default 1. */
  tick?: number | undefined;
  /** The fields from the highest bits to the lowest. Time comes first, so that ids increase. Default time, node, sequence. */
  order?: readonly ['time', 'node', 'sequence'] | readonly ['time', 'sequence', 'node'] | undefined;
}

/** The fields of an id. */
export interface DecodedFlake {
  /** Unix milliseconds at which the id's tick began. */
  timestamp: number;
  /** The same time as a `Date`. */
  date: Date;
  node: number;
  sequence: number;
}

/**
 * The fields of an id in a layout: of a bigint, decimal digits or an exact number. A negative id, as from a signed column, is read as the
 * same 64 bits unsigned. `undefined` if `id` is none of these or does not fit the layout.
 */
export function decodeFlake(
  id: unknown,
  { epoch, tick = 1, timeBits, nodeBits, sequenceBits, order }: LayoutOptions,
): DecodedFlake | undefined {
  let rest = toBits(id);
  if (rest === undefined) return undefined;
  /** Takes the lowest bits. */
  const take = (width: number) => {
    const value = Number(BigInt.asUintN(width, rest as bigint));
    rest = (rest as bigint) >> BigInt(width);
    return value;
  };
  const isNodeLowest = order?.[2] === 'node';
  const lowest = take(isNodeLowest ? nodeBits : sequenceBits);
  const middle = take(isNodeLowest ? sequenceBits : nodeBits);
  const timestamp = epoch + take(timeBits) * tick;
  if (rest !== 0n) return undefined;
  const [node, sequence] = isNodeLowest ? [lowest, middle] : [middle, lowest];
  return { timestamp, date: new Date(timestamp), node, sequence };
}

function toBits(id: unknown): bigint | undefined {
  const value =
    typeof id === 'bigint'
      ? id
      : typeof id === 'string' && /^-?\d{1,20}$/.test(id)
        ? BigInt(id)
        : Number.isSafeInteger(id)
          ? BigInt(id as number)
          : undefined;
  if (value === undefined || value < -(1n << 63n) || value >= 1n << 64n) return undefined;
  return BigInt.asUintN(64, value);
}

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
