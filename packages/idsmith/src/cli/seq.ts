import { refuse } from '../options.js';
import type { SequenceChanges, SequenceInfo, SequenceOptions } from '../sequence/port.js';
import { Sequences } from '../sequence/sequences.js';
import { type Command, type Given, readCount, readInteger, UsageError } from './command.js';
import { jsonIds, table } from './output.js';
import { withStore } from './store.js';

interface Action {
  /** True if the name of a sequence follows. */
  readonly isNamed: boolean;
  /** The allowed flags besides `--store`. */
  readonly flags: readonly string[];
  run(sequences: Sequences, name: string, given: Given): AsyncIterable<string>;
}

const SHAPE = ['block-size', 'step', 'min', 'max', 'cycle'];

const ACTIONS = new Map<string, Action>([
  [
    'define',
    {
      isNamed: true,
      flags: [...SHAPE, 'start', 'if-missing'],
      async *run(sequences, name, given) {
        const shape = readShape(given);
        const info = given.on('if-missing') ? sequences.ensure(name, shape) : sequences.define(name, shape);
        yield* show(await info, given);
      },
    },
  ],
  [
    'next',
    {
      isNamed: true,
      flags: ['count'],
      async *run(sequences, name, given) {
        const count = readCount(given, 1);
        const ids = draw(sequences, name, count);
        yield* given.on('json') ? jsonIds(ids, count) : ids;
      },
    },
  ],
  ['list', { isNamed: false, flags: [], run: (sequences, _name, given) => listAll(sequences, given) }],
  [
    'show',
    {
      isNamed: true,
      flags: [],
      async *run(sequences, name, given) {
        yield* show(await sequences.describe(name), given);
      },
    },
  ],
  [
    'alter',
    {
      isNamed: true,
      flags: [...SHAPE, 'no-cycle', 'next'],
      async *run(sequences, name, given) {
        const changes = readShape(given);
        if (Object.keys(changes).length === 0)
          throw new UsageError('seq alter needs a flag that changes the sequence, for example --block-size');
        yield* show(await sequences.alter(name, changes), given);
      },
    },
  ],
  [
    'remove',
    {
      isNamed: true,
      flags: [],
      async *run(sequences, name) {
        await sequences.remove(name);
        yield* [];
      },
    },
  ],
]);

export const seqCommand: Command = {
  name: 'seq',
  usage: 'define|next|list|show|alter|remove NAME --store URL',
  summary: 'Define, use and manage sequences',
  example: 'idsmith seq define orders --start 10000 --store sqlite:./ids.db',
  flags: {
    store: { type: 'string', value: 'URL', help: 'the store of the sequences' },
    count: { type: 'string', short: 'n', value: 'N', help: 'next: how many ids, default 1' },
    start: { type: 'string', value: 'ID', help: 'define: the first id, default 1' },
    'if-missing': { type: 'boolean', help: 'define: accept a sequence that has the same definition' },
    next: { type: 'string', value: 'ID', help: 'alter: the next id, never a step back' },
    'block-size': { type: 'string', value: 'N', help: 'ids taken at a time, default 20' },
    step: { type: 'string', value: 'N', help: 'the step between ids, default 1; negative descends' },
    min: { type: 'string', value: 'ID', help: 'the lowest id' },
    max: { type: 'string', value: 'ID', help: 'the highest id' },
    cycle: { type: 'boolean', help: 'start again when the ids have run out' },
    'no-cycle': { type: 'boolean', help: 'alter: stop when the ids have run out' },
  },
  run(given) {
    const [word = '', ...rest] = given.rest;
    const action = ACTIONS.get(word);
    if (action === undefined) throw new UsageError(`seq needs one of ${[...ACTIONS.keys()].join(', ')}`);
    const [name = ''] = rest;
    if (action.isNamed && rest.length === 0) throw new UsageError(`seq ${word} needs the name of a sequence`);
    const extra = rest[action.isNamed ? 1 : 0];
    if (extra !== undefined) throw new UsageError(`seq ${word} takes no ${JSON.stringify(extra)}`);
    for (const flag of Object.keys(this.flags)) {
      const isGiven = given.text(flag) !== undefined || given.on(flag);
      if (isGiven && flag !== 'store' && !action.flags.includes(flag))
        throw new UsageError(`seq ${word} takes no --${flag}`);
    }
    return withStore(given, (store) => action.run(new Sequences(store), name, given));
  },
};

async function* draw(sequences: Sequences, name: string, count: number): AsyncIterable<string> {
  const sequence = await sequences.get(name);
  try {
    for (let left = count; left > 0; left--) yield String(sequence.take() ?? (await sequence.next()));
  } finally {
    await sequence.close();
  }
}

async function* listAll(sequences: Sequences, given: Given): AsyncIterable<string> {
  const all = await sequences.list();
  if (given.on('json')) yield JSON.stringify({ sequences: all }, exact, 2);
  else
    yield* table(
      ['name', 'next', 'block', 'step', 'range', 'state'],
      all.map((info) => [
        info.name,
        String(info.next),
        String(info.blockSize),
        String(info.step),
        `${info.min} … ${info.max}`,
        stateOf(info),
      ]),
    );
}

function* show(info: SequenceInfo, given: Given): Iterable<string> {
  if (given.on('json')) yield JSON.stringify(info, exact, 2);
  else {
    const { start, next, blockSize, step, min, max } = info;
    yield* table(
      [info.name, stateOf(info)],
      Object.entries({ start: start ?? 'unknown', next, 'block size': blockSize, step, min, max }).map(
        ([label, value]) => [label, String(value)],
      ),
    );
  }
}

const stateOf = ({ exhausted, cycle }: SequenceInfo) =>
  exhausted ? 'exhausted' : cycle ? 'in a cycle' : 'open';

const exact = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

/** The options of a sequence from the flags, to define or alter it. */
function readShape(given: Given): SequenceOptions & SequenceChanges {
  if (given.on('cycle') && given.on('no-cycle'))
    throw new UsageError('seq alter takes --cycle or --no-cycle, not both');
  const step = readId(given, 'step');
  const shape = {
    start: readId(given, 'start'),
    next: readId(given, 'next'),
    blockSize: readInteger(given, 'block-size', 1, 2 ** 31 - 1),
    step: step === undefined ? undefined : Number(step),
    min: readId(given, 'min'),
    max: readId(given, 'max'),
    cycle: given.on('cycle') ? true : given.on('no-cycle') ? false : undefined,
  };
  return Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined));
}

function readId(given: Given, flag: string): bigint | undefined {
  const text = given.text(flag);
  if (text === undefined) return undefined;
  if (/^-?\d{1,19}$/.test(text)) return BigInt(text);
  refuse(`--${flag}`, 'a whole number', text);
}
