import { FlakeGenerator } from '../flake/generator.js';
import type { Layout } from '../flake/layout.js';
import { layouts, poolOf } from '../flake/layouts.js';
import { acquireFlakeLease } from '../flake/leased.js';
import type { NodeRange } from '../lease/options.js';
import { refuse, requireChoice } from '../options.js';
import { readCount, readInteger } from './arguments.js';
import { type Command, type Given, UsageError } from './command.js';
import { idLines, inBatches } from './output.js';
import { leasedIds, storeFlags, storeUrl } from './store.js';

const NAMES = Object.keys(layouts) as [keyof typeof layouts, ...(keyof typeof layouts)[]];

export const flakeCommand: Command = {
  name: 'flake',
  usage: '[-n 5] [--node 3 | --store URL] [--layout jflake]',
  summary: 'Mint flakes, one a line',
  example: 'idsmith flake -n 3 --node 3',
  flags: {
    count: { type: 'string', short: 'n', value: 'N', help: 'how many, default 1' },
    node: {
      type: 'string',
      value: 'ID',
      help: 'a node id that no other process uses at the same time',
    },
    ...storeFlags('lease a node id from this store: safe for many processes at once'),
    namespace: {
      type: 'string',
      value: 'NAME',
      help: 'a pool of node ids of its own, whose ids may be equal to those of other pools; default the pool of the layout',
    },
    layout: { type: 'string', value: 'NAME', help: `${NAMES.join(', ')}; default jflake` },
    nodes: {
      type: 'string',
      value: '0-255',
      help: 'the node ids that the store gives out, where each region has a store; default all of the layout',
    },
  },
  run(given) {
    const count = readCount(given, 1);
    const name = requireChoice('--layout', given.text('layout') as keyof typeof layouts | undefined, NAMES);
    const hasNode = given.text('node') !== undefined;
    if (hasNode && given.text('store') !== undefined)
      throw new UsageError('flake takes --node or --store, not both');
    // A flag wins over the variable IDSMITH_STORE.
    const isFixed = hasNode || storeUrl(given) === undefined;
    return idLines(given, isFixed ? fixed(given, layouts[name], count) : leased(given, name, count));
  },
};

function fixed(given: Given, layout: Layout, count: number): AsyncIterable<string> {
  const node = readInteger(given, 'node', 0, layout.max('node'));
  if (node === undefined)
    throw new UsageError('flake needs --node or --store, or the variable IDSMITH_STORE');
  for (const flag of ['namespace', 'nodes'])
    if (given.text(flag) !== undefined) throw new UsageError(`--${flag} needs --store`);
  return minted(new FlakeGenerator({ layout, node }), count);
}

function leased(given: Given, name: keyof typeof layouts, count: number): AsyncIterable<string> {
  const layout = layouts[name];
  const namespace = given.text('namespace') ?? poolOf(layout);
  const nodes = readRange(given, layout.nodes);
  return leasedIds(given, acquireFlakeLease, { namespace, layout, nodes }, (lease) =>
    minted(new FlakeGenerator({ layout, node: lease }), count),
  );
}

/** The range of `--nodes 0-255`; `undefined` if the flag is not given. */
function readRange(given: Given, size: number): NodeRange | undefined {
  const text = given.text('nodes');
  if (text === undefined) return undefined;
  const [, first, last] = /^(\d{1,10})-(\d{1,10})$/.exec(text) ?? [];
  if (Number(first) <= Number(last) && Number(last) < size) return [Number(first), Number(last)];
  refuse(
    '--nodes',
    `the first and the last node id from 0 to ${size - 1}, for example 0-${size / 2 - 1}`,
    text,
  );
}

const minted = (generator: FlakeGenerator, count: number) =>
  inBatches(count, (size) => generator.batch(size));
