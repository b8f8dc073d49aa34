import { inspect, type Reading } from '../inspect/index.js';
import { type Command, UsageError } from './command.js';

/** The labels of fields whose names are not words. */
const LABELS: Record<string, string> = {
  sequentialCounter: 'if sequential',
  variableCounter: 'if variable',
  processId: 'process id',
  macFragment: 'MAC fragment',
};

export const inspectCommand: Command = {
  name: 'inspect',
  usage: '<id>',
  summary: 'Show the fields of an id of any family: time, node, counter and so on',
  example: 'idsmith inspect 20be0ffc-314a-bd53-7a50-013a65ca76d2',
  flags: {},
  run(given) {
    const [id, surplus] = given.rest;
    if (id === undefined || surplus !== undefined) throw new UsageError('inspect takes one id');
    const readings = inspect(id);
    return given.on('json') ? [toJson(id.trim(), readings)] : readings.flatMap(toLines);
  },
};

function toLines({ family, fields }: Reading, index: number): string[] {
  const rows = [
    ['family', family],
    ...Object.entries(fields).map(([name, value]) => [LABELS[name] ?? name, value]),
  ];
  const lines = rows.map(([label, value]) => `${String(label).padEnd(16)}${value}`);
  return index === 0 ? lines : ['', 'or', '', ...lines];
}

/** JSON with the best reading's fields at the top and the other readings below. */
function toJson(id: string, [best, ...others]: Reading[]): string {
  const flat = ({ family, fields }: Reading) => ({ family, ...fields });
  const rest = others.length > 0 ? { others: others.map(flat) } : {};
  return JSON.stringify({ id, ...flat(best as Reading), ...rest }, undefined, 2);
}
