import { type PublicIds, publicIds } from '../public/index.js';
import { readInteger } from './arguments.js';
import { type CommandGroup, type Flags, type Given, UsageError } from './command.js';
import { inputLines } from './input.js';
import { readKeyFile } from './key-file.js';
import { jsonArray, type Lines } from './output.js';

const FLAGS: Flags = {
  prefix: { type: 'string', value: 'PREFIX', help: 'the text before the underscore, for example ord' },
  'key-file': { type: 'string', value: 'FILE', help: 'a key, or lines of a key id and a key' },
  of: { type: 'string', value: 'KIND', help: 'int64 (default) or uuid' },
  short: { type: 'boolean', help: 'texts of 13 characters, which are easier to forge' },
};

/** `idsmith public encode` and `idsmith public decode`. */
export const publicCommands: CommandGroup = {
  name: 'public',
  summary: 'Turn ids into public ids and back',
  commands: [
    {
      name: 'public encode',
      usage: '[ID…] --prefix ord --key-file FILE',
      summary: 'Make public ids of ids; without ids, of one a line on standard input',
      example: 'idsmith public encode 1703865194431643648 --prefix ord --key-file keys.txt',
      flags: {
        ...FLAGS,
        current: { type: 'string', value: 'ID', help: 'the key id that encodes, default the highest' },
      },
      operands: Number.POSITIVE_INFINITY,
      run: (given) =>
        lines(given, (codec, id) => {
          const text = codec.encode(id);
          return { line: text, json: { id, public: text } };
        }),
    },
    {
      name: 'public decode',
      usage: '[TEXT…] --prefix ord --key-file FILE',
      summary: 'Read the ids in public ids; without texts, in one a line on standard input',
      example: 'idsmith public decode ord_0fmd13b3x7ktw6mj8150rkf0z3z --prefix ord --key-file keys.txt',
      flags: FLAGS,
      operands: Number.POSITIVE_INFINITY,
      run: (given) =>
        lines(given, (codec, text) => {
          const id = String(codec.decode(text));
          return { line: id, json: { public: text, id } };
        }),
    },
  ],
};

type Codec = PublicIds<string, 'int64' | 'uuid'>;
type Convert = (codec: Codec, id: string) => { line: string; json: object };

function lines(given: Given, convert: Convert): Lines {
  if (given.rest.length === 0 && given.io.stdin.isTTY)
    throw new UsageError('public needs ids: name them, or pipe them in, one a line');
  return given.on('json') ? jsonArray(results(given, convert, 'json')) : results(given, convert, 'line');
}

async function* results<Kind extends 'line' | 'json'>(given: Given, convert: Convert, kind: Kind) {
  const codec = await codecFrom(given);
  const ids = given.rest.length > 0 ? given.rest : inputLines(given.io.stdin, given.signal);
  for await (const id of ids) yield convert(codec, id)[kind];
}

async function codecFrom(given: Given): Promise<Codec> {
  const prefix = required(given, 'prefix', 'ord');
  const file = required(given, 'key-file', 'keys.txt');
  const current = readInteger(given, 'current', 0, 127);
  return publicIds({
    prefix,
    keys: await readKeyFile(file),
    of: (given.text('of') ?? 'int64') as 'int64' | 'uuid',
    short: given.on('short'),
    ...(current !== undefined && { current }),
  });
}

function required(given: Given, flag: string, example: string): string {
  const value = given.text(flag);
  if (value === undefined) throw new UsageError(`--${flag} is required, for example --${flag} ${example}`);
  return value;
}
