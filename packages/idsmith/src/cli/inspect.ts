import { inspect } from '../inspect/inspect.js';
import type { Reading } from '../inspect/reading.js';
import { type Command, UsageError } from './command.js';

/** What people call the fields. */
const LABELS: Record<string, string> = {
  sequentialCounter: 'if sequential',
  variableCounter: 'if variable',
  processId: 'process id',
  macFragment: 'MAC fragment',
};

export const inspectCommand: Command = {
  name: 'inspect',
  usage: '<id>',
  summary: 'Show what an id says: family, version, counter, process, machine and time',
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

/** The best reading's fields at the top, the others below. */
function toJson(id: string, [best, ...others]: Reading[]): string {
  const flat = ({ family, fields }: Reading) => ({ family, ...fields });
  const rest = others.length > 0 ? { others: others.map(flat) } : {};
  return JSON.stringify({ id, ...flat(best as Reading), ...rest }, undefined, 2);
}
