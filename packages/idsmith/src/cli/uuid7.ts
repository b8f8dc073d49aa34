import { acquireLease } from '../lease/lease.js';
import { Uuid7Generator } from '../uuid7/generator.js';
import { LEASED_NODES } from '../uuid7/layout.js';
import { readCount } from './arguments.js';
import { type Command, UsageError } from './command.js';
import { idLines, inBatches } from './output.js';
import { leasedIds, storeFlags, storeUrl } from './store.js';

export const uuid7Command: Command = {
  name: 'uuid7',
  usage: '[-n 5] [--store URL]',
  summary: 'Mint UUIDs of version 7, which increase, one a line',
  example: 'idsmith uuid7 -n 3',
  flags: {
    count: { type: 'string', short: 'n', value: 'N', help: 'how many, default 1' },
    ...storeFlags('lease a node id from this store, so that uniqueness does not rest on chance'),
    namespace: { type: 'string', value: 'NAME', help: 'a pool of node ids of its own, default uuid7' },
  },
  run(given) {
    const count = readCount(given, 1);
    const namespace = given.text('namespace');
    if (storeUrl(given) === undefined) {
      if (namespace !== undefined) throw new UsageError('--namespace needs --store');
      return idLines(given, minted(new Uuid7Generator(), count));
    }
    const options = { namespace: namespace ?? 'uuid7', size: LEASED_NODES };
    return idLines(
      given,
      leasedIds(given, acquireLease, options, (lease) => minted(new Uuid7Generator({ node: lease }), count)),
    );
  },
};

const minted = (generator: Uuid7Generator, count: number) =>
  inBatches(count, (size) => generator.batch(size));
