import { LocalityGenerator } from '../locality/generator.js';
import type { LocalityOptions } from '../locality/options.js';
import { type Command, type Given, readCount, UsageError } from './command.js';
import { jsonIds } from './output.js';

export const localityCommand: Command = {
  name: 'locality',
  usage: '[-n 5] [--sequential]',
  summary: 'Mint locality UUIDs, one a line',
  example: 'idsmith locality -n 3 --sequential',
  flags: {
    count: { type: 'string', short: 'n', value: 'N', help: 'how many, default 1' },
    sequential: { type: 'boolean', help: 'neighbours, from the seed of these ten minutes' },
    random: { type: 'boolean', help: 'a random node instead of this process and machine' },
    rfc9562: { type: 'boolean', help: 'as standard UUIDs of version 8' },
  },
  run(given) {
    if (given.rest.length > 0) throw new UsageError(`locality takes no ${JSON.stringify(given.rest[0])}`);
    const count = readCount(given, 1);
    const generator = new LocalityGenerator(optionsFrom(given));
    return given.on('json') ? jsonIds(batches(generator, count), count) : batches(generator, count);
  },
};

function optionsFrom(given: Given): LocalityOptions {
  return {
    mode: given.on('sequential') ? 'sequential' : 'variable',
    format: given.on('rfc9562') ? 'rfc9562' : 'locality',
    ...(given.on('random') ? { node: 'random' as const } : {}),
  };
}

function* batches(generator: LocalityGenerator, count: number): Iterable<string> {
  for (let left = count; left > 0; left -= 1000) yield* generator.batch(Math.min(left, 1000));
}
