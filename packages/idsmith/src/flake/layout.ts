import { InvalidIdError, InvalidOptionError, TimeExhaustedError } from '../errors.js';
import { type Complete, refuse, requireInteger, requireKnown, show } from '../options.js';
import { type DecodedFlake, decodeFlake, type LayoutOptions } from './decode.js';

/** The three fields of a flake. */
export type FlakeField = 'time' | 'node' | 'sequence';

const FIELDS = ['timestamp', 'node', 'sequence', 'date'];

/** The layout of a flake's bits. Make one with {@link defineLayout}. */
export class Layout {
  /** Unix milliseconds at which the time field is zero. */
  readonly epoch: number;
  /** The length of a tick in milliseconds. */
  readonly tick: number;
  /** The fields from the highest bits to the lowest. */
  readonly order: Complete<LayoutOptions>['order'];
  /** The total number of bits: up to 63 fit a signed 64-bit column, up to 53 a JavaScript number. */
  readonly bits: number;
  /** The lowest bit of each field and its number of bits. */
  readonly fields: Readonly<Record<FlakeField, { readonly shift: number; readonly bits: number }>>;
  readonly #options: Complete<LayoutOptions>;
  readonly #end: number;
  readonly #max: Readonly<Record<FlakeField, number>>;
  readonly #shifts: Readonly<Record<FlakeField, bigint>>;

  /** @internal */
  constructor(options: Complete<LayoutOptions>) {
    const { epoch, timeBits, nodeBits, sequenceBits, tick, order } = options;
    const widths = { time: timeBits, node: nodeBits, sequence: sequenceBits };
    const [first, second, third] = order;
    const field = (name: FlakeField, shift: number) => Object.freeze({ shift, bits: widths[name] });
    this.epoch = epoch;
    this.tick = tick;
    this.order = Object.freeze([...order] as const);
    this.#options = Object.freeze({ ...options, order: this.order });
    this.bits = timeBits + nodeBits + sequenceBits;
    this.fields = Object.freeze({
      [third]: field(third, 0),
      [second]: field(second, widths[third]),
      [first]: field(first, widths[third] + widths[second]),
    }) as Layout['fields'];
    this.#max = { time: 2 ** timeBits - 1, node: 2 ** nodeBits - 1, sequence: 2 ** sequenceBits - 1 };
    const { time, node, sequence } = this.fields;
    this.#shifts = { time: BigInt(time.shift), node: BigInt(node.shift), sequence: BigInt(sequence.shift) };
    this.#end = Math.min(epoch + 2 ** timeBits * tick, 8.64e15);
    // Generators keep copies of these values. A layout that changes would give ids of two kinds.
    Object.freeze(this);
  }

  /** The options that make this layout. @internal */
  get options(): Complete<LayoutOptions> {
    return this.#options;
  }

  /** The end of the time field: no id can carry this time or a later one. */
  get expires(): Date {
    return new Date(this.#end);
  }

  /**
   * One text for all layouts that make the same ids of the same fields: `1388534400000/1 node:9@13 sequence:13@0`. The width of
   * the time field does not matter, and neither does the place of a field without bits.
   */
  get fingerprint(): string {
    const fields = (['node', 'sequence'] as const)
      .filter((name) => this.fields[name].bits > 0)
      .map((name) => `${name}:${this.fields[name].bits}@${this.fields[name].shift}`);
    return [`${this.epoch}/${this.tick}`, ...fields].join(' ');
  }

  /** The number of node ids. */
  get nodes(): number {
    return this.max('node') + 1;
  }

  /** The largest value of a field. */
  max(field: FlakeField): number {
    return this.#max[field];
  }

  /** The tick that contains a time, counted from the epoch. */
  tickOf(timestamp: number): number {
    return Math.floor((timestamp - this.epoch) / this.tick);
  }

  /** The Unix milliseconds at which a tick begins. */
  timeOf(tick: number): number {
    return this.epoch + tick * this.tick;
  }

  /**
   * The id of these fields. Takes the result of {@link decode}, too, and ignores its `date`.
   *
   * @throws InvalidOptionError when a field does not fit its bits, or its name is not known
   */
  encode(fields: { timestamp: number; node: number; sequence: number }): bigint {
    const { timestamp, node, sequence } = requireKnown('fields', fields, FIELDS);
    requireInteger(
      'timestamp',
      Math.floor(timestamp),
      this.epoch,
      this.timeOf(2 ** this.fields.time.bits) - 1,
    );
    return this.pack(this.tickOf(timestamp), node, sequence);
  }

  /**
   * The id of a tick since the epoch, a node and a sequence number.
   *
   * @throws InvalidOptionError when one of them does not fit its bits
   */
  pack(tick: number, node: number, sequence: number): bigint {
    requireInteger('tick', tick, 0, this.#max.time);
    requireInteger('node', node, 0, this.#max.node);
    requireInteger('sequence', sequence, 0, this.#max.sequence);
    const shifts = this.#shifts;
    return (
      (BigInt(tick) << shifts.time) | (BigInt(node) << shifts.node) | (BigInt(sequence) << shifts.sequence)
    );
  }

  /**
   * The fields of an id: a bigint, decimal digits or an exact number. A negative id, as from a signed column, is read as the
   * same 64 bits unsigned.
   *
   * @throws InvalidIdError when `id` is none of these or does not fit the layout
   */
  decode(id: bigint | string | number): DecodedFlake {
    const decoded = decodeFlake(id, this.#options);
    if (decoded !== undefined) return decoded;
    const isRounded = typeof id === 'number' && Number.isInteger(id) && !Number.isSafeInteger(id);
    throw new InvalidIdError(
      isRounded
        ? `${id} has lost digits: a JavaScript number is exact up to 2^53 - 1. Keep ids as bigint or text`
        : `${show(id)} is not a flake of ${this.bits} bits`,
    );
  }

  /** The lowest id of the tick that contains `at`: `id >= minId(start)` finds all ids made since. */
  minId(at: Date | number): bigint {
    return this.pack(this.#boundTick(at), 0, 0);
  }

  /** The highest id of the tick that contains `at`. */
  maxId(at: Date | number): bigint {
    return this.pack(this.#boundTick(at), this.max('node'), this.max('sequence'));
  }

  #boundTick(at: Date | number): number {
    const timestamp = Number(at);
    if (!Number.isFinite(timestamp)) refuse('at', 'a Date or milliseconds', at);
    if (timestamp >= this.#end) {
      throw new TimeExhaustedError(`the layout's time field ends at ${this.expires.toISOString()}`);
    }
    return Math.max(this.tickOf(timestamp), 0);
  }
}

const ORDERS = ['time,node,sequence', 'time,sequence,node'];

/**
 * The beginning of 2026. A clock before this is wrong, and tells nothing about an epoch: while a module loads, the clock of a Worker
 * is at 1970.
 */
const WRITTEN = 1_767_225_600_000;
const OPTIONS = ['epoch', 'timeBits', 'nodeBits', 'sequenceBits', 'tick', 'order'];

/**
 * Makes a layout of your own.
 *
 * @throws InvalidOptionError when the fields do not fit 64 bits, time does not come first, or the epoch lies in the future
 */
export function defineLayout(options: LayoutOptions): Layout {
  requireKnown('options', options, OPTIONS);
  const { epoch, timeBits, nodeBits, sequenceBits, tick = 1, order = ['time', 'node', 'sequence'] } = options;
  const now = Date.now();
  requireInteger('epoch', epoch, 0, now < WRITTEN ? 2 ** 48 : now);
  requireInteger('timeBits', timeBits, 1, 53);
  requireInteger('nodeBits', nodeBits, 0, 32);
  requireInteger('sequenceBits', sequenceBits, 0, 32);
  requireInteger('tick', tick, 1, 86_400_000);
  const sum = timeBits + nodeBits + sequenceBits;
  if (sum > 64)
    throw new InvalidOptionError(`timeBits + nodeBits + sequenceBits must be 64 at most, not ${sum}`);
  if (!Array.isArray(order) || !ORDERS.includes(order.join())) {
    refuse(
      'order',
      'time, node, sequence or time, sequence, node: ids increase only if time comes first',
      String(order),
    );
  }
  return new Layout({ epoch, timeBits, nodeBits, sequenceBits, tick, order });
}

/**
 * Checks that `layout` comes from `defineLayout()`, and returns it. The layout may be of another copy of this package: a development
 * server that reloads modules has two.
 *
 * @throws InvalidOptionError for anything else
 */
export function requireLayout(layout: Layout): Layout {
  if (typeof (layout as Partial<Layout> | null)?.fingerprint === 'string') return layout;
  const name = typeof layout === 'string' && /^\w+$/.test(layout) ? layout : 'snowflake';
  refuse('layout', `a layout such as layouts.${name}, or one from defineLayout()`, layout);
}
