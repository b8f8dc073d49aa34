import { InvalidOptionError } from '../../errors.js';
import { requireNoCounter } from '../../sequence/name.js';
import { Sequences } from '../../sequence/sequences.js';
import type { Store } from '../../stores/store.js';
import { readInteger } from '../arguments.js';
import { type Command, type Given, NegativeVerdict, UsageError } from '../command.js';
import { storeFlags, withStore } from '../store.js';
import { table as asTable, jsonText } from '../text.js';
import { type AdoptionPlan, adopt, planAdoption } from './adopt-ids.js';
import type { ForeignGenerator } from './foreign-ids.js';

/** `idsmith seq adopt`: a sequence goes on where the ids of a table are. */
export const adoptCommand: Command = {
  name: 'seq adopt',
  summary: 'Let a sequence go on after the ids of a table',
  usage: 'NAME --table orders --column id [--native orders_seq] [--dry-run] --store URL',
  example: 'idsmith seq adopt orders --table orders --column id --dry-run --store postgres://localhost/shop',
  operands: 1,
  flags: {
    table: { type: 'string', value: 'TABLE', help: 'the table whose ids the sequence continues' },
    column: { type: 'string', value: 'COLUMN', help: 'the column of the ids' },
    native: {
      type: 'string',
      value: 'SEQUENCE',
      help: 'a sequence of the database that programs draw from, as Hibernate does',
    },
    'block-size': {
      type: 'string',
      value: 'N',
      help: 'ids taken at a time, if the sequence is new; default 20',
    },
    'all-give-ids': { type: 'boolean', help: 'you know that no program leaves the column out' },
    'dry-run': { type: 'boolean', help: 'print what would be done, and change nothing' },
    ...storeFlags('the store of the sequence, in the database of the table'),
  },
  run(given) {
    const [name] = given.rest;
    if (name === undefined) throw new UsageError('seq adopt needs the name of a sequence');
    requireNoCounter(name, 'idsmith series list shows the series');
    const [table, column] = [required(given, 'table'), required(given, 'column')];
    const blockSize = readInteger(given, 'block-size', 1, 2 ** 31 - 1);
    const define = blockSize === undefined ? {} : { blockSize };
    return withStore(given, false, (store) =>
      run(store, name, { table, column, native: given.text('native') }, define, given),
    );
  },
};

async function* run(
  store: Store,
  name: string,
  column: Parameters<typeof planAdoption>[3],
  define: { blockSize?: number },
  given: Given,
): AsyncIterable<string> {
  const access = store.sql;
  if (access === undefined)
    throw new InvalidOptionError('--store must be a database with the table: postgres:, mysql: or sqlite:');
  const sequences = new Sequences(store);
  const plan = await planAdoption(access.outside, sequences, name, column, given.on('all-give-ids'));
  const isDry = given.on('dry-run');
  const refusal = refusalOf(name, plan);
  if (isDry || refusal !== undefined) {
    yield* describe(name, plan, plan.sequence?.next, isDry ? 'dry run' : 'refused', given);
    if (refusal !== undefined) throw new NegativeVerdict(1, refusal);
    return;
  }
  const info = await adopt(access, sequences, name, plan, { define, signal: given.signal });
  yield* describe(name, plan, info.next, 'adopted', given);
}

function required(given: Given, flag: string): string {
  const text = given.text(flag);
  if (text === undefined || text === '') throw new UsageError(`seq adopt needs --${flag}`);
  return text;
}

/** The reason why the sequence cannot be adopted yet, with the ways out. */
function refusalOf(name: string, { rivals, ids, next, max }: AdoptionPlan): string | undefined {
  if (next > max)
    return `${ids.table}.${ids.column} is ${ids.type}, and no id is left above ${next - 1n}: widen the column first`;
  const [rival] = rivals;
  if (rival === undefined) return undefined;
  const ways = rivals.flatMap((each) => waysOf(each, next, max)).join('; or ');
  const again = ways.endsWith('--all-give-ids') ? '' : '. Then run this command again';
  return (
    `nothing is changed: ${rivals.map(({ what }) => what).join(' and ')} still gives ids to ${ids.table}.${ids.column}, and would give ` +
    `those of the sequence ${name}, too. ${ways[0]?.toUpperCase()}${ways.slice(1)}${again}`
  );
}

/** What to do about a generator: end it, or hold it below the ids of the sequence, so that old programs can go on for a while. */
function waysOf({ what, ways }: ForeignGenerator, next: bigint, max: bigint): string[] {
  const left = (max - next) / 10n;
  const room = next + (left < 1_000_000n ? left : 1_000_000n);
  const statements = ways(room);
  if (statements.length === 0)
    return [
      `${what} cannot be ended: when every program gives its ids itself, run this command with --all-give-ids`,
    ];
  return statements.map((statement) =>
    statement.includes(String(room))
      ? `to let old programs go on until ${room}, and new ids begin after it, run ${statement}`
      : `when every program gives its ids itself, run ${statement}`,
  );
}

function* describe(
  name: string,
  plan: AdoptionPlan,
  next: bigint | undefined,
  state: string,
  given: Given,
): Iterable<string> {
  const { ids, highest, max } = plan;
  const after = next === undefined || next < plan.next ? plan.next : next;
  if (given.on('json')) {
    const generators = ids.generators.map(({ what, reached, end, isActive }) => ({
      what,
      reached,
      end,
      isActive,
    }));
    const { table, column, type } = ids;
    yield jsonText({ sequence: name, state, table, column, type, highest, generators, next: after, max }, 2);
    return;
  }
  const was = plan.sequence === undefined ? 'is new' : `was at ${plan.sequence.next}`;
  yield* asTable(
    [name, state],
    [
      ['column', `${ids.table}.${ids.column}, ${ids.type}`],
      ['highest id', String(highest)],
      ...ids.generators.map((each) => ['other ids', `${each.what}: ${stateOf(each, highest)}`]),
      ['sequence', `${was}; next ${after}`],
      ...(plan.sequence !== undefined && plan.sequence.next < plan.next
        ? [['note', 'processes that have a block from before use it up: restart them']]
        : []),
    ],
  );
}

function stateOf({ reached, end, isActive }: ForeignGenerator, highest: bigint): string {
  if (end !== undefined) return `held at ${end}`;
  return `up to ${reached > highest ? reached : highest}${isActive ? '' : ', gives none by itself'}`;
}
