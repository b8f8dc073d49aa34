import { refuse } from '../options.js';
import type { SequenceChanges, SequenceDefinition } from '../sequence/port.js';
import { readInteger } from './arguments.js';
import { type Flags, type Given, UsageError } from './command.js';

/** The flags of a definition that can also be altered. A new sequence has defaults, and an existing one keeps what it has. */
function shapeFlags(defaults: { blockSize: string; step: string }): Flags {
  return {
    'block-size': { type: 'string', value: 'N', help: `ids taken at a time${defaults.blockSize}` },
    step: { type: 'string', value: 'N', help: `the step between ids${defaults.step}; negative descends` },
    min: { type: 'string', value: 'ID', help: 'the lowest id' },
    max: { type: 'string', value: 'ID', help: 'the highest id' },
    cycle: { type: 'boolean', help: 'start again when the ids have run out' },
  };
}

/** The flags of `seq define`. */
export const DEFINE_FLAGS: Flags = {
  start: { type: 'string', value: 'ID', help: 'the first id, default 1' },
  ...shapeFlags({ blockSize: ', default 20', step: ', default 1' }),
  lost: {
    type: 'boolean',
    help: 'the store has lost the sequence, and --start is beyond all of its numbers',
  },
  'if-missing': { type: 'boolean', help: 'accept a sequence that has the same definition' },
};

/** The flags of `seq alter`. */
export const ALTER_FLAGS: Flags = {
  next: { type: 'string', value: 'ID', help: 'the next id, never a step back' },
  ...shapeFlags({ blockSize: '', step: '' }),
  'no-cycle': { type: 'boolean', help: 'stop when the ids have run out' },
};

/** The options of a sequence from the flags, to define or alter it. */
export function readShape(given: Given): Omit<SequenceDefinition, 'name'> & SequenceChanges {
  if (given.on('cycle') && given.on('no-cycle'))
    throw new UsageError('seq alter takes --cycle or --no-cycle, not both');
  if (given.on('lost') && given.on('if-missing'))
    throw new UsageError('seq define takes --lost or --if-missing, not both');
  if (given.on('lost') && given.text('start') === undefined)
    throw new UsageError(
      'seq define --lost needs --start, beyond all numbers that the sequence has given out',
    );
  const shape = {
    start: readId(given, 'start'),
    next: readId(given, 'next'),
    blockSize: readInteger(given, 'block-size', 1, 2 ** 31 - 1),
    step: readStep(given),
    min: readId(given, 'min'),
    max: readId(given, 'max'),
    lost: given.on('lost') || undefined,
    cycle: given.on('cycle') ? true : given.on('no-cycle') ? false : undefined,
  };
  return Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined));
}

/** The step as a number, which must be exact. */
function readStep(given: Given): number | undefined {
  const step = readId(given, 'step');
  if (step === undefined || Number.isSafeInteger(Number(step)))
    return step === undefined ? step : Number(step);
  refuse('--step', 'a whole number within ±(2^53 − 1) other than 0', given.text('step'));
}

function readId(given: Given, flag: string): bigint | undefined {
  const text = given.text(flag);
  if (text === undefined) return undefined;
  if (/^-?\d{1,19}$/.test(text)) return BigInt(text);
  refuse(`--${flag}`, 'a whole number within ±(2^63 − 1)', text);
}
