import { layouts } from '../flake/layouts.js';
import { type Command, readInteger, UsageError } from './command.js';
import { table } from './output.js';

interface Fit {
  readonly name: string;
  readonly nodes: number;
  /** The ids a second of one node. */
  readonly rate: number;
  readonly expires: string;
  readonly fits: boolean;
  readonly why: string;
}

export const planCommand: Command = {
  name: 'plan',
  usage: '--rate 50000 --nodes 200 --years 30',
  summary: 'Show which flake layouts fit your load, and when they run out',
  example: 'idsmith plan --rate 50000 --nodes 200 --years 30',
  flags: {
    rate: { type: 'string', value: 'N', help: 'the most ids a second of one node' },
    nodes: { type: 'string', value: 'N', help: 'the number of processes that mint at the same time' },
    years: { type: 'string', value: 'N', help: 'the years that the layout must last' },
  },
  run(given) {
    const [rate, nodes, years] = ['rate', 'nodes', 'years'].map((flag) => {
      const value = readInteger(given, flag, 1, 1e12);
      if (value === undefined) throw new UsageError(`plan needs --${flag}`);
      return value;
    }) as [number, number, number];
    const fits = Object.keys(layouts).map((name) => judge(name as keyof typeof layouts, rate, nodes, years));
    return given.on('json')
      ? [JSON.stringify({ rate, nodes, years, layouts: fits }, undefined, 2)]
      : toTable(fits, { rate, nodes, years });
  },
};

function judge(name: keyof typeof layouts, rate: number, nodes: number, years: number): Fit {
  const layout = layouts[name];
  const offered = {
    nodes: layout.max('node') + 1,
    rate: ((layout.max('sequence') + 1) * 1000) / layout.tick,
    expires: layout.expires.toISOString().slice(0, 10),
  };
  const end = new Date();
  end.setUTCFullYear(end.getUTCFullYear() + years);
  const lacks = [
    offered.nodes < nodes ? 'too few nodes' : '',
    offered.rate < rate ? 'too few ids a second' : '',
    layout.expires < end ? 'ends too soon' : '',
  ].filter(Boolean);
  return { name, ...offered, fits: lacks.length === 0, why: lacks.join(', ') };
}

function toTable(
  fits: Fit[],
  { rate, nodes, years }: { rate: number; nodes: number; years: number },
): string[] {
  const rows = fits.map(({ name, ...fit }) => [
    fit.fits ? 'yes' : 'no',
    name,
    String(fit.nodes),
    fit.rate.toLocaleString('en'),
    fit.expires,
    fit.why,
  ]);
  const lines = table(['fits', 'layout', 'nodes', 'ids/s a node', 'until', 'lacks'], rows);
  if (fits.some(({ fits: good }) => good)) return lines;
  return [...lines, '', ...ownLayout(rate, nodes, years)];
}

/** The bits of a custom layout, for a load that fits no preset. */
function ownLayout(rate: number, nodes: number, years: number): string[] {
  const timeBits = Math.ceil(Math.log2(years * 366 * 86_400_000));
  const nodeBits = Math.ceil(Math.log2(nodes));
  const sequenceBits = Math.max(1, Math.ceil(Math.log2(rate / 1000)));
  const sum = timeBits + nodeBits + sequenceBits;
  if (sum > 64)
    return [
      `No layout of 64 bits fits: it would take ${timeBits} for time, ${nodeBits} for nodes and ${sequenceBits} for the sequence, ${sum} in all.`,
    ];
  return [
    `A layout of your own fits: defineLayout({ epoch: ${Date.now()}, timeBits: ${timeBits}, nodeBits: ${nodeBits}, sequenceBits: ${sequenceBits} })`,
  ];
}
