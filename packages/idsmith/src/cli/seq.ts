import { once } from 'node:events';
import { NoSuchSequenceError, SequenceExistsError } from '../errors.js';
import { nearestName, show as quote, refuse } from '../options.js';
import { supplyOf } from '../sequence/blocks.js';
import { isCounter, requireNoCounter } from '../sequence/name.js';
import type { SequenceChanges, SequenceDefinition, SequenceInfo } from '../sequence/port.js';
import { Sequences } from '../sequence/sequences.js';
import { memoryStore } from '../stores/memory/store.js';
import { adoptCommand } from './adopt/adopt.js';
import { readCount, readInteger } from './arguments.js';
import { type Command, type CommandGroup, type Flags, type Given, type Io, UsageError } from './command.js';
import { idLines } from './output.js';
import { storeFlags, withStore } from './store.js';
import { jsonText, table } from './text.js';

/** One action on the sequences of a store. */
interface Action {
  readonly word: string;
  readonly summary: string;
  /** The text after the word in the usage line, without `--store URL`. */
  readonly usage: string;
  readonly example: string;
  /** True if the name of a sequence follows the word. */
  readonly isNamed: boolean;
  /** True if the action makes a SQLite file that is missing. */
  readonly creates: boolean;
  readonly flags: Flags;
  run(sequences: Sequences, name: string, given: Given): AsyncIterable<string>;
}

const INSTEAD = 'idsmith series list shows the series';

const STORE = storeFlags('the store of the sequences');

/** The flags of `seq define`. */
const DEFINE_FLAGS: Flags = {
  start: { type: 'string', value: 'ID', help: 'the first id, default 1' },
  ...shapeFlags({ blockSize: ', default 20', step: ', default 1' }),
  lost: {
    type: 'boolean',
    help: 'the store has lost the sequence, and --start is beyond all of its numbers',
  },
  'if-missing': { type: 'boolean', help: 'accept a sequence that has the same definition' },
};

/** The flags of `seq alter`. */
const ALTER_FLAGS: Flags = {
  next: { type: 'string', value: 'ID', help: 'the next id, never a step back' },
  ...shapeFlags({ blockSize: '', step: '' }),
  'no-cycle': { type: 'boolean', help: 'stop when the ids have run out' },
};

const ACTIONS: readonly Action[] = [
  {
    word: 'define',
    summary: 'Define a sequence',
    usage: 'NAME [--start 1] [--block-size 20] [--if-missing]',
    example: 'idsmith seq define orders --start 10000 --store sqlite:./ids.db',
    isNamed: true,
    creates: true,
    flags: DEFINE_FLAGS,
    async *run(sequences, name, given) {
      const shape = readShape(given);
      const info = given.on('if-missing') ? sequences.ensure(name, shape) : sequences.define(name, shape);
      yield* show(await info, given);
    },
  },
  {
    word: 'next',
    summary: 'Draw ids of a sequence, one a line',
    usage: 'NAME [-n 5]',
    example: 'idsmith seq next orders -n 3 --store sqlite:./ids.db',
    isNamed: true,
    creates: false,
    flags: { count: { type: 'string', short: 'n', value: 'N', help: 'how many ids, default 1' } },
    run: (sequences, name, given) => draw(sequences, name, readCount(given, 1), given.signal),
  },
  {
    word: 'list',
    summary: 'List all sequences',
    usage: '',
    example: 'idsmith seq list --store sqlite:./ids.db',
    isNamed: false,
    creates: false,
    flags: {},
    run: (sequences, _name, given) => listAll(sequences, given),
  },
  {
    word: 'show',
    summary: 'Show one sequence',
    usage: 'NAME',
    example: 'idsmith seq show orders --store sqlite:./ids.db',
    isNamed: true,
    creates: false,
    flags: {},
    async *run(sequences, name, given) {
      yield* show(await sequences.describe(name), given);
    },
  },
  {
    word: 'alter',
    summary: 'Change a sequence, never backwards',
    usage: 'NAME [--block-size 100] [--next 20000]',
    example: 'idsmith seq alter orders --block-size 100 --store sqlite:./ids.db',
    isNamed: true,
    creates: false,
    flags: ALTER_FLAGS,
    async *run(sequences, name, given) {
      yield* show(await sequences.alter(name, readShape(given)), given);
    },
  },
  {
    word: 'remove',
    summary: 'Remove a sequence, after a question',
    usage: 'NAME [--yes]',
    example: 'idsmith seq remove orders --yes --store sqlite:./ids.db',
    isNamed: true,
    creates: false,
    flags: { yes: { type: 'boolean', help: 'remove without asking' } },
    async *run(sequences, name, given) {
      // A name that does not exist is an error of its own, and needs no question.
      const { next } = await sequences.describe(name);
      if (!given.on('yes')) await confirmRemoval(name, next, given.io);
      await sequences.remove(name);
      yield* [];
    },
  },
];

export const seqCommands: CommandGroup = {
  name: 'seq',
  summary: 'Define, use and manage sequences',
  commands: [...ACTIONS.map(commandOf), adoptCommand],
};

function commandOf({ word, usage, isNamed, creates, flags, run, ...action }: Action): Command {
  const name = `seq ${word}`;
  return {
    ...action,
    name,
    usage: `${usage} --store URL`.trim(),
    flags: { ...flags, ...STORE },
    operands: isNamed ? 1 : 0,
    run(given) {
      const [sequence = ''] = given.rest;
      if (isNamed && given.rest.length === 0) throw new UsageError(`${name} needs the name of a sequence`);
      requireNoCounter(sequence, INSTEAD);
      // Flags are checked before anything is opened.
      if (word === 'next') readCount(given, 1);
      if (word === 'alter' && Object.keys(readShape(given)).length === 0)
        throw new UsageError('seq alter needs a flag that changes the sequence, for example --block-size');
      const lines = async function* () {
        // A wrong definition makes no file.
        if (word === 'define') await new Sequences(memoryStore()).define(sequence, readShape(given));
        yield* withStore(given, creates, async function* (store) {
          yield* withHints(new Sequences(store), sequence, given, run);
          // A new sequence may begin elsewhere than at its start.
          if (word === 'define')
            for (const warning of store.warnings?.() ?? []) given.io.stderr.write(`idsmith: ${warning}\n`);
        });
      };
      return word === 'next' ? idLines(given, lines()) : lines();
    },
  };
}

/** Runs an action. An error about the name of the sequence tells what to do. */
async function* withHints(
  sequences: Sequences,
  name: string,
  given: Given,
  run: Action['run'],
): AsyncIterable<string> {
  try {
    yield* run(sequences, name, given);
  } catch (error) {
    if (error instanceof NoSuchSequenceError) {
      const nearest = nearestName(
        name,
        (await sequences.list()).map((info) => info.name),
      );
      const way = nearest === undefined ? 'seq list shows all of them' : `did you mean ${quote(nearest)}?`;
      throw new NoSuchSequenceError(`${error.message}; ${way}`, { cause: error });
    }
    if (error instanceof SequenceExistsError && !given.on('if-missing'))
      throw new SequenceExistsError(
        `${error.message}: --if-missing accepts the same definition, seq alter changes it`,
        {
          cause: error,
        },
      );
    throw error;
  }
}

async function* draw(
  sequences: Sequences,
  name: string,
  count: number,
  signal: AbortSignal,
): AsyncIterable<string> {
  const sequence = await sequences.get(name);
  try {
    for (let left = count; left > 0; left--)
      yield String(sequence.take() ?? (await sequence.next({ signal })));
  } finally {
    await sequence.close();
  }
}

async function* listAll(sequences: Sequences, given: Given): AsyncIterable<string> {
  const all = (await sequences.list()).filter(({ name }) => !isCounter(name));
  if (given.on('json')) yield jsonText({ sequences: all }, 2);
  else if (all.length === 0) yield 'there are no sequences: idsmith seq define orders makes one';
  else
    yield* table(
      ['name', 'next', 'block', 'step', 'left', 'state'],
      all.map((info) => [
        info.name,
        String(info.next),
        String(info.blockSize),
        String(info.step),
        leftOf(info),
        stateOf(info),
      ]),
    );
}

function* show(info: SequenceInfo, given: Given): Iterable<string> {
  if (given.on('json')) yield jsonText(info, 2);
  else {
    const { start, next, blockSize, step, min, max } = info;
    yield* table(
      [info.name, stateOf(info)],
      Object.entries({
        start: start ?? 'unknown',
        next,
        'block size': blockSize,
        step,
        min,
        max,
        left: leftOf(info),
      }).map(([label, value]) => [label, String(value)]),
    );
  }
}

/**
 * Asks a person to type the name of the sequence.
 *
 * @throws UsageError where nobody can be asked, or the answer is another one
 */
async function confirmRemoval(name: string, next: bigint, { stdin, stderr }: Io): Promise<void> {
  const consequence = `A sequence that is defined again starts again, and repeats the ids below ${next}`;
  if (stdin.isTTY !== true) throw new UsageError(`seq remove needs --yes. ${consequence}`);
  stderr.write(`${consequence}.\nType ${quote(name)} to remove it: `);
  const [answer = ''] = await once(stdin, 'data');
  stdin.pause();
  if (String(answer).trim() !== name) throw new UsageError(`${quote(name)} was not removed`);
}

/** The ids that blocks will still reach. Those at the end, fewer than a block, need a smaller block size. */
function leftOf(info: SequenceInfo): string {
  const { remaining, stranded } = supplyOf(info) ?? {};
  if (remaining === undefined) return 'no end';
  return remaining === 0n && stranded! > 0n ? `0, and ${stranded} with a smaller block` : String(remaining);
}

const stateOf = ({ exhausted, cycle }: SequenceInfo) =>
  exhausted ? 'exhausted' : cycle ? 'in a cycle' : 'open';

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

/** The options of a sequence from the flags, to define or alter it. */
function readShape(given: Given): Omit<SequenceDefinition, 'name'> & SequenceChanges {
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
