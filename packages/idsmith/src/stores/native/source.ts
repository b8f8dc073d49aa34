import { IdError, NoSuchSequenceError, SequenceExhaustedError, StoreError } from '../../errors.js';
import { refuse, refuseName, requireKnown, show } from '../../options.js';
import type { Block, BlockSource } from '../../sequence/port.js';
import { storeReason } from '../../support/store-error.js';
import { requireTimeout } from '../../support/timeout.js';
import { BlockReader, type NativeReading, type Optimizer } from './optimizer.js';

/** Options of a native sequence: a sequence of the database itself. */
export interface NativeSequenceOptions {
  /** The sequence in the database, with its schema where necessary. Default the name and `_seq`. */
  readonly sequenceName?: string | undefined;
  /**
   * The ids that a value stands for. All programs that draw from the sequence must agree on this. `'pooled-lo'`, the default: the
   * value and the ids after it, INCREMENT BY in all. `'pooled'`, the default of Hibernate: the value and the ids before it. `'none'`:
   * the value alone.
   */
  readonly optimizer?: Optimizer | undefined;
  /**
   * The first value of the sequence, which `'pooled'` gives alone, as Hibernate does. Default the START WITH of the sequence. Oracle
   * does not tell START WITH, and the first value that is drawn is given alone.
   */
  readonly initialValue?: bigint | number | undefined;
  /**
   * A statement of your own, without parameters. Its one row has the next value, the increment, the lowest and the highest
   * value of the sequence, and its first value, in this order. Columns that are not needed can be left out at the end.
   */
  readonly sql?: string | undefined;
  /** The longest time for an answer of the database, ms. Default 10,000. */
  readonly timeout?: number | undefined;
}

const KNOWN = ['sequenceName', 'optimizer', 'initialValue', 'sql', 'timeout'];
const OPTIMIZERS = ['pooled-lo', 'pooled', 'none'];

/** The most values that are drawn without finding a free id. */
const MAX_DRAWS = 100;

/**
 * The sequence's name in the database, for sources without a statement of the user.
 *
 * @throws InvalidOptionError naming the option that is wrong
 */
export function sequenceNameOf(name: unknown, options: NativeSequenceOptions): string {
  const { sequenceName, sql } = requireKnown('options', options, KNOWN);
  if (typeof name !== 'string' || name === '') refuse('name', 'the name of a sequence', name);
  if (sql !== undefined && (typeof sql !== 'string' || sql === '')) refuse('sql', 'a statement', sql);
  if (sequenceName !== undefined && (typeof sequenceName !== 'string' || sequenceName === ''))
    refuse('sequenceName', 'the name of a sequence in the database', sequenceName);
  return sequenceName ?? `${name}_seq`;
}

/** The meaning of a database's error. */
export type NativeFault = 'exhausted' | 'missing' | undefined;

/**
 * A source of the blocks that a statement gives.
 *
 * @param origin the kind of the source and its client
 * @param selectWithin makes the function that runs the statement within a time, ms, and leaves no connection of a pool behind
 * @throws InvalidOptionError naming the option that is wrong
 */
export function nativeSource(
  name: string,
  options: NativeSequenceOptions,
  selectWithin: (timeout: number) => () => Promise<readonly unknown[]>,
  faultOf: (error: unknown) => NativeFault,
  origin: readonly unknown[],
): BlockSource {
  const { timeout, optimizer = 'pooled-lo', initialValue } = options;
  const select = selectWithin(requireTimeout(timeout, 10_000));
  if (!OPTIMIZERS.includes(optimizer)) refuseName('optimizer', optimizer, OPTIMIZERS);
  const start = startOf(initialValue, optimizer);
  const reader = new BlockReader(name, optimizer);

  const draw = async (): Promise<Block | undefined> => {
    const [row] = await select();
    if (row === undefined) throw missing(name);
    const reading = readingOf(name, row as object, optimizer);
    return reader.read({ ...reading, start: start ?? reading.start });
  };

  const allocate = async (): Promise<Block> => {
    try {
      for (let draws = 0; draws < MAX_DRAWS; draws++) {
        const block = await draw();
        if (block !== undefined) return block;
      }
    } catch (error) {
      throw asIdError(name, error, faultOf(error));
    }
    throw new StoreError(
      `sequence ${show(name)}: INCREMENT BY was lowered, and larger blocks may have taken the ids before ${reader.firstFree}: ` +
        `restart the sequence with ${reader.firstFree}`,
    );
  };

  const identity = [
    ...origin,
    name,
    ...KNOWN.map((option) => options[option as keyof NativeSequenceOptions]),
  ];
  const source = {
    allocate,
    isSame: (other: BlockSource) => {
      const theirs = identities.get(other);
      return theirs !== undefined && identity.every((part, i) => part === theirs[i]);
    },
  };
  identities.set(source, identity);
  return source;
}

/** The client, the name and the options of each source. Two sources with the same ones are one. */
const identities = new WeakMap<BlockSource, readonly unknown[]>();

/** @throws InvalidOptionError unless the value is a whole number that the optimizer uses */
function startOf(initialValue: unknown, optimizer: Optimizer): bigint | undefined {
  if (initialValue === undefined) return undefined;
  if (optimizer !== 'pooled')
    refuse('initialValue', `left out, unless optimizer is "pooled" (it is ${show(optimizer)})`, initialValue);
  if (typeof initialValue === 'bigint') return initialValue;
  if (Number.isSafeInteger(initialValue)) return BigInt(initialValue as number);
  refuse('initialValue', 'a bigint or a whole number within ±(2^53 − 1)', initialValue);
}

/** The values in a row. Columns may be text, bytes or numbers. */
function readingOf(name: string, row: object, optimizer: Optimizer): NativeReading {
  const [value, increment, min, max, start] = Object.values(row).map(wholeNumber);
  const isWhole = value !== undefined && increment !== undefined && increment !== 0n;
  if (isWhole) return { value, increment, min, max, start };
  if (value !== undefined && optimizer === 'none')
    return { value, increment: 1n, min: undefined, max: undefined, start: undefined };
  throw new StoreError(
    `sequence ${show(name)}: the statement must give a value and an increment that is not 0, both whole ` +
      'numbers in columns of different names (with optimizer "none" the value is enough)',
  );
}

function wholeNumber(column: unknown): bigint | undefined {
  const text = column instanceof Uint8Array ? new TextDecoder().decode(column) : String(column);
  // A driver may have rounded a number that is not exact.
  if (typeof column === 'number' && !Number.isSafeInteger(column)) return undefined;
  return /^-?\d+$/.test(text) ? BigInt(text) : undefined;
}

function asIdError(name: string, error: unknown, fault: NativeFault): IdError {
  if (error instanceof IdError) return error;
  if (fault === 'missing') return missing(name, error);
  const reason = (error as Error)?.message ?? String(error);
  if (fault === 'exhausted')
    return new SequenceExhaustedError(`sequence ${show(name)}: ${reason}`, { cause: error });
  return new StoreError(`sequence ${show(name)}: asking the database failed: ${reason}`, {
    cause: error,
    reason: storeReason(error),
  });
}

function missing(name: string, cause?: unknown): NoSuchSequenceError {
  return new NoSuchSequenceError(`the database has no sequence for ${show(name)}`, { cause });
}
