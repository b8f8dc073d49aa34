import { IdError, NoSuchSequenceError, SequenceExhaustedError, StoreError } from '../../errors.js';
import { refuse, requireInteger, show } from '../../options.js';
import { inTime } from '../../stores/sql.js';
import { endOf } from '../block.js';
import type { Block, BlockSource } from '../port.js';

/** How a sequence of the database itself is found and read. */
export interface NativeSequenceOptions {
  /** The sequence in the database, with its schema if need be. Default: the name and `_seq`. */
  readonly sequenceName?: string;
  /**
   * A statement of your own, without parameters. Its one row has the next value, the increment, the lowest and the highest
   * value of the sequence, in this order.
   */
  readonly sql?: string;
  /** How long the database may take to answer, ms. Default 10,000. */
  readonly timeout?: number;
}

/** The sequence's name in the database, if no statement of the user's own is given. */
export function sequenceNameOf(name: unknown, { sequenceName, sql }: NativeSequenceOptions): string {
  if (typeof name !== 'string' || name === '') refuse('name', 'the name of a sequence', name);
  if (sql !== undefined && (typeof sql !== 'string' || sql === '')) refuse('sql', 'a statement', sql);
  if (sequenceName !== undefined && (typeof sequenceName !== 'string' || sequenceName === ''))
    refuse('sequenceName', 'the name of a sequence in the database', sequenceName);
  return sequenceName ?? `${name}_seq`;
}

/** What a database's error means. */
export type NativeFault = 'exhausted' | 'missing' | undefined;

/** The blocks that a statement gives. */
export function nativeSource(
  name: string,
  { timeout = 10_000 }: NativeSequenceOptions,
  select: () => Promise<readonly unknown[]>,
  faultOf: (error: unknown) => NativeFault,
): BlockSource {
  requireInteger('timeout', timeout, 1, 2 ** 31 - 1);
  return { allocate: () => nextBlock(name, () => inTime(timeout, select()), faultOf) };
}

async function nextBlock(
  name: string,
  select: () => Promise<readonly unknown[]>,
  faultOf: (error: unknown) => NativeFault,
): Promise<Block> {
  try {
    const [row] = await select();
    if (row === undefined) throw missing(name);
    return blockOf(name, row as object);
  } catch (error) {
    if (error instanceof IdError) throw error;
    const fault = faultOf(error);
    if (fault === 'missing') throw missing(name, error);
    const reason = (error as Error)?.message ?? String(error);
    if (fault === 'exhausted')
      throw new SequenceExhaustedError(`sequence ${show(name)}: ${reason}`, { cause: error });
    throw new StoreError(`sequence ${show(name)}: asking the database failed: ${reason}`, { cause: error });
  }
}

/** INCREMENT BY is the size of the block, and its sign the direction. Columns may be text, bytes or numbers. */
function blockOf(name: string, row: object): Block {
  const [value, increment, min, max] = Object.values(row).map(wholeNumber);
  if (value === undefined || increment === undefined || increment === 0n)
    throw new StoreError(
      `sequence ${show(name)}: the statement must give a value and an increment that is not 0, both whole ` +
        'numbers in columns of different names',
    );
  const step = increment < 0n ? -1 : 1;
  const block = { first: value, step, count: Number(increment) * step };
  const last = endOf(block) - BigInt(step);
  if ((max !== undefined && last > max) || (min !== undefined && last < min))
    throw new SequenceExhaustedError(
      `sequence ${show(name)} gave ${value}, and a block of ${block.count} would pass its limit`,
    );
  return block;
}

function wholeNumber(column: unknown): bigint | undefined {
  const text = column instanceof Uint8Array ? new TextDecoder().decode(column) : String(column);
  // A number that a driver may have rounded is no answer.
  if (typeof column === 'number' && !Number.isSafeInteger(column)) return undefined;
  return /^-?\d+$/.test(text) ? BigInt(text) : undefined;
}

function missing(name: string, cause?: unknown): NoSuchSequenceError {
  return new NoSuchSequenceError(`the database has no sequence for ${show(name)}`, { cause });
}
