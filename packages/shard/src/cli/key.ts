import {
  type Command,
  type Given,
  idLines,
  loadConfig,
  readCount,
  UsageError,
  VERBOSE,
} from 'idsmith/internal/cli';
import type { ShardConfig } from '../config/config.js';
import { ShardMap } from '../map/shard-map.js';

/** The number of keys in one call of `genKeys`. */
const BATCH = 10_000;

export const keyCommand: Command = {
  name: 'key',
  usage: '[--type user] [-n 5] --config shards.json',
  summary: 'Mint sharded keys, one a line',
  example: 'idsmith key --type user -n 3 --config shards.json',
  flags: {
    count: { type: 'string', short: 'n', value: 'N', help: 'how many, default 1' },
    type: { type: 'string', value: 'TYPE', help: 'a name in keyTypes, or a number up to 3843' },
    config: { type: 'string', value: 'FILE', help: 'shards, auth and options: .json, .js, .cjs or .mjs' },
    verbose: VERBOSE,
  },
  run(given) {
    return idLines(given, mint(given, readCount(given, 1)));
  },
};

async function* mint(given: Given, count: number): AsyncIterable<string> {
  const map = new ShardMap(await readShardConfig(given, 'config'));
  const type = readType(given.text('type'), map);
  given.activity.wait(`waiting for the nodes in ${given.text('config')}`);
  try {
    for (let left = count; left > 0; left -= BATCH) yield* await map.genKeys(type, Math.min(left, BATCH));
  } finally {
    await map.close();
  }
}

/** The name if the map has such a type; otherwise the number, if the text is one. */
function readType(type: string | undefined, { keyTypes }: ShardMap): string | number | undefined {
  return type !== undefined && !Object.hasOwn(keyTypes, type) && /^\d{1,9}$/.test(type) ? Number(type) : type;
}

/**
 * Reads the config from the file that a flag names.
 *
 * @throws UsageError when the flag is missing
 * @throws InvalidOptionError naming a file that cannot be read. The message never shows the contents.
 */
export async function readShardConfig(given: Given, flag: string): Promise<ShardConfig> {
  const file = given.text(flag);
  if (file === undefined) throw new UsageError(`--${flag} is required, for example --${flag} shards.json`);
  return (await loadConfig(flag, file)) as ShardConfig;
}
