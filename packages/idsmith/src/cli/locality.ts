import { machineFacts } from '#runtime';
import { LocalityGenerator } from '../locality/generator.js';
import type { LocalityOptions } from '../locality/options.js';
import { readCount } from './arguments.js';
import { type Command, type Given, UsageError } from './command.js';
import { idLines } from './output.js';

export const localityCommand: Command = {
  name: 'locality',
  usage: '[-n 5] [--sequential] [--machine | --random]',
  summary: 'Mint locality UUIDs, one a line',
  example: 'idsmith locality -n 3 --sequential',
  flags: {
    count: { type: 'string', short: 'n', value: 'N', help: 'how many, default 1' },
    sequential: { type: 'boolean', help: 'make neighbouring ids, from the seed of the present ten minutes' },
    machine: { type: 'boolean', help: 'always use the process id and MAC address as the node' },
    random: { type: 'boolean', help: 'always use a random node' },
    rfc9562: { type: 'boolean', help: 'make standard UUIDs of version 8' },
    verbose: { type: 'boolean', help: 'print the node and its reasons on standard error' },
  },
  run(given) {
    const count = readCount(given, 1);
    const generator = new LocalityGenerator(optionsFrom(given));
    if (given.on('verbose')) given.io.stderr.write(`${describeNode(generator, given)}\n`);
    return idLines(given, batches(generator, count));
  },
};

function optionsFrom(given: Given): LocalityOptions {
  if (given.on('machine') && given.on('random'))
    throw new UsageError('locality takes --machine or --random, not both');
  return {
    mode: given.on('sequential') ? 'sequential' : 'variable',
    format: given.on('rfc9562') ? 'rfc9562' : 'locality',
    node: given.on('machine') ? 'machine' : given.on('random') ? 'random' : 'auto',
  };
}

/** `node: random, process id 4711, MAC 03:00:0a:1b:2c:3d (not the machine's own: process id 1, as in every container)` */
function describeNode({ node: { source, processId, mac } }: LocalityGenerator, given: Given): string {
  const address = Array.from(mac, (byte) => byte.toString(16).padStart(2, '0')).join(':');
  const text = `node: ${source}, process id ${processId}, MAC ${address}`;
  const facts = machineFacts();
  const reasons = facts ? facts.doubts : ['process id and MAC address cannot be read'];
  if (reasons.length === 0 || given.on('random')) return text;
  return `${text} (${source === 'machine' ? 'may repeat' : "not the machine's own"}: ${reasons.join('; ')})`;
}

function* batches(generator: LocalityGenerator, count: number): Iterable<string> {
  for (let left = count; left > 0; left -= 1000) yield* generator.batch(Math.min(left, 1000));
}
