import { defineLayout, type Layout } from '../flake/layout.js';
import { layouts } from '../flake/layouts.js';
import { readInteger } from './arguments.js';
import { type Command, type Given, NegativeVerdict, UsageError } from './command.js';
import { jsonText, table } from './text.js';

/** The load that a layout must carry. */
interface Load {
  /** The most ids a second of one node. */
  readonly rate: number;
  readonly nodes: number;
  readonly years: number;
}

interface Fit {
  readonly name: string;
  readonly nodes: number;
  /** The ids a second of one node. */
  readonly rate: number;
  readonly expires: string;
  readonly fits: boolean;
  readonly why: string;
}

/** The options of `defineLayout` for a load that fits no preset. */
interface OwnLayout {
  readonly epoch: number;
  readonly timeBits: number;
  readonly nodeBits: number;
  readonly sequenceBits: number;
}

/** Days of a year, so that every span of years has at least as many. */
const DAYS = 366;

const EXAMPLE = 'idsmith plan --rate 50000 --nodes 200 --years 30';

export const planCommand: Command = {
  name: 'plan',
  usage: '--rate 50000 --nodes 200 --years 30',
  summary: 'Show which flake layouts fit your load, and when they run out',
  example: EXAMPLE,
  flags: {
    rate: { type: 'string', value: 'N', help: 'the most ids a second of one node' },
    nodes: { type: 'string', value: 'N', help: 'the number of processes that mint at the same time' },
    years: { type: 'string', value: 'N', help: 'the years that the layout must last' },
  },
  *run(given) {
    const missing = ['rate', 'nodes', 'years'].filter((flag) => given.text(flag) === undefined);
    if (missing.length > 0)
      throw new UsageError(`plan needs ${missing.map((flag) => `--${flag}`).join(', ')}: ${EXAMPLE}`);
    const load = {
      rate: readNumber(given, 'rate', 1e12),
      nodes: readNumber(given, 'nodes', 1e12),
      years: readNumber(given, 'years', 10_000),
    };
    const fits = Object.entries(layouts).map(([name, layout]) => judge(name, layout, load));
    const own = fits.some((fit) => fit.fits) ? undefined : ownLayout(load);
    const isFit = fits.some((fit) => fit.fits) || own !== undefined;
    if (given.on('json')) yield jsonText({ ...load, layouts: fits, ...(own !== undefined && { own }) }, 2);
    else {
      yield* toTable(fits);
      if (own !== undefined)
        yield* ['', `A layout of your own fits: defineLayout(${optionsText(own)})${columnOf(own)}`];
    }
    if (!isFit) throw new NegativeVerdict(1, tooManyBits(load));
  },
};

const readNumber = (given: Given, flag: keyof Load, max: number) =>
  readInteger(given, flag, 1, max) as number;

function judge(name: string, layout: Layout, { rate, nodes, years }: Load): Fit {
  const offered = {
    nodes: layout.max('node') + 1,
    rate: ((layout.max('sequence') + 1) * 1000) / layout.tick,
    expires: layout.expires.toISOString().slice(0, 10),
  };
  const lacks = [
    offered.nodes < nodes ? 'too few nodes' : '',
    offered.rate < rate ? 'too few ids a second' : '',
    layout.expires.getTime() < Date.now() + years * DAYS * 86_400_000 ? 'ends too soon' : '',
  ].filter(Boolean);
  return { name, ...offered, fits: lacks.length === 0, why: lacks.join(', ') };
}

function toTable(fits: Fit[]): string[] {
  const rows = fits.map(({ name, ...fit }) => [
    fit.fits ? 'yes' : 'no',
    name,
    String(fit.nodes),
    fit.rate.toLocaleString('en'),
    fit.expires,
    fit.why,
  ]);
  return table(['fits', 'layout', 'nodes', 'ids/s a node', 'until', 'lacks'], rows);
}

/** The bits that a load takes: for the time in milliseconds, the nodes and the ids of a millisecond. */
function bitsFor({ rate, nodes, years }: Load): Omit<OwnLayout, 'epoch'> {
  return {
    timeBits: Math.ceil(Math.log2(years * DAYS * 86_400_000)),
    nodeBits: Math.max(1, Math.ceil(Math.log2(nodes))),
    sequenceBits: Math.max(1, Math.ceil(Math.log2(rate / 1000))),
  };
}

/** A layout for the load, if one is possible. */
function ownLayout(load: Load): OwnLayout | undefined {
  const options = { epoch: Date.now(), ...bitsFor(load) };
  try {
    return judge('own', defineLayout(options), load).fits ? options : undefined;
  } catch {
    return undefined;
  }
}

function optionsText({ epoch, timeBits, nodeBits, sequenceBits }: OwnLayout): string {
  return `{ epoch: ${epoch}, timeBits: ${timeBits}, nodeBits: ${nodeBits}, sequenceBits: ${sequenceBits} }`;
}

/** Ids of 64 bits do not fit a signed column, as most databases have them. */
function columnOf({ timeBits, nodeBits, sequenceBits }: OwnLayout): string {
  return timeBits + nodeBits + sequenceBits === 64 ? '. Its ids need an unsigned 64-bit column' : '';
}

function tooManyBits(load: Load): string {
  const { timeBits, nodeBits, sequenceBits } = bitsFor(load);
  return (
    `no layout of 64 bits fits: it would take ${timeBits} for time, ${nodeBits} for nodes and ${sequenceBits} for the sequence, ` +
    `${timeBits + nodeBits + sequenceBits} in all`
  );
}
