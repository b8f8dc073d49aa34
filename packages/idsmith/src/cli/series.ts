import { InvalidOptionError } from '../errors.js';
import { show as quote } from '../options.js';
import { Sequences } from '../sequence/sequences.js';
import { type CounterInfo, seriesAmong } from '../series/counters.js';
import type { Period } from '../series/format.js';
import { checkSeries, Series } from '../series/series.js';
import { readCount } from './arguments.js';
import { type Command, type CommandGroup, type Given, UsageError } from './command.js';
import { idLines } from './output.js';
import { storeFlags, withStore } from './store.js';
import { jsonText, table } from './text.js';

const STORE = storeFlags('the store of the series');

const listCommand: Command = {
  name: 'series list',
  usage: '--store URL',
  summary: 'List the series of a store',
  example: 'idsmith series list --store sqlite:./ids.db',
  operands: 0,
  flags: STORE,
  run: (given) =>
    withStore(given, false, async function* (store) {
      const all = seriesAmong(await store.listSequences());
      const series = [...all].map(([name, counters]) => ({ name, counters: counters.length }));
      if (given.on('json')) yield jsonText({ series }, 2);
      else if (series.length === 0) yield 'there are no series: idsmith series next makes one';
      else
        yield* table(
          ['name', 'counters'],
          series.map(({ name, counters }) => [name, String(counters)]),
        );
    }),
};

const showCommand: Command = {
  name: 'series show',
  usage: 'NAME --store URL',
  summary: 'Show the counters of a series, one for each tenant and period',
  example: 'idsmith series show invoices --store sqlite:./ids.db',
  operands: 1,
  flags: STORE,
  run(given) {
    const name = nameOf(given, 'series show');
    return withStore(given, false, async function* (store) {
      const counters = seriesAmong(await store.listSequences()).get(name);
      if (counters === undefined)
        throw new InvalidOptionError(
          `there is no series ${quote(name)}: idsmith series list shows all of them`,
        );
      if (given.on('json')) yield jsonText({ series: name, counters }, 2);
      else yield* table(['tenant', 'period', 'next'], counters.map(cellsOf));
    });
  },
};

const nextCommand: Command = {
  name: 'series next',
  usage: 'NAME --format F [--period year] [--tenant T] [-n 5] --store URL',
  summary: 'Print the next numbers of a series, one a line',
  example: "idsmith series next invoices --format 'INV-{yyyy}-{n:6}' --period year --store sqlite:./ids.db",
  operands: 1,
  flags: {
    format: { type: 'string', value: 'F', help: 'the printed form, such as INV-{yyyy}-{n:6}' },
    period: { type: 'string', value: 'P', help: 'none, year, quarter, month or day, default none' },
    'time-zone': { type: 'string', value: 'Z', help: 'the calendar of the period, default UTC' },
    tenant: { type: 'string', value: 'T', help: 'the tenant, where each has numbers of its own' },
    count: { type: 'string', short: 'n', value: 'N', help: 'how many numbers, default 1' },
    ...STORE,
  },
  run(given) {
    const name = nameOf(given, 'series next');
    const format = given.text('format');
    if (format === undefined)
      throw new UsageError("series next needs --format, for example 'INV-{yyyy}-{n:6}'");
    const tenant = given.text('tenant');
    const count = readCount(given, 1);
    const plan = checkSeries(name, {
      format,
      period: given.text('period') as Period | undefined,
      timeZone: given.text('time-zone'),
      tenants: tenant !== undefined,
      prefetch: 0,
    });
    const lines = withStore(given, true, async function* (store) {
      const series = new Series(plan, { store, sequences: new Sequences(store) });
      try {
        for (let left = count; left > 0; left--) yield await series.next({ tenant, signal: given.signal });
      } finally {
        await series.close();
      }
    });
    return idLines(given, lines);
  },
};

export const seriesCommands: CommandGroup = {
  name: 'series',
  summary: 'List series, such as invoice numbers, and print their next numbers',
  commands: [listCommand, showCommand, nextCommand],
};

function nameOf({ rest: [name] }: Given, command: string): string {
  if (name === undefined) throw new UsageError(`${command} needs the name of a series`);
  return name;
}

const cellsOf = ({ tenant, period, next }: CounterInfo) => [tenant ?? '', period, String(next)];
