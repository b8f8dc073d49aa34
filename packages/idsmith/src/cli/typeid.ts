import { typeIds } from '../typeid/type-ids.js';
import { readCount } from './arguments.js';
import { type Command, UsageError } from './command.js';
import { idLines, inBatches } from './output.js';

export const typeidCommand: Command = {
  name: 'typeid',
  usage: 'PREFIX [-n 5]',
  summary: 'Mint typed ids, a prefix and a UUID of version 7, one a line',
  example: 'idsmith typeid user -n 3',
  flags: {
    count: { type: 'string', short: 'n', value: 'N', help: 'how many, default 1' },
  },
  operands: 1,
  run(given) {
    const [prefix] = given.rest;
    if (prefix === undefined) throw new UsageError("typeid needs a prefix, such as user; '' stands for none");
    const ids = typeIds(prefix);
    const mint = (count: number) => Array.from({ length: count }, () => ids.next());
    return idLines(given, inBatches(readCount(given, 1), mint));
  },
};
