import { IdError } from '../errors.js';
import { type PublicIdReader, type Reading, requireReadings } from '../inspect/index.js';
import { describePublicId } from '../public/describe.js';
import { publicIds } from '../public/index.js';
import { type Command, type Given, NegativeVerdict, UsageError } from './command.js';
import { inputLines } from './input.js';
import { readKeyFile } from './key-file.js';
import { jsonArray, type Lines } from './output.js';
import { jsonText, padToWidth, visible } from './text.js';

/** The labels of fields whose names are not words. */
const LABELS: Record<string, string> = {
  sequentialCounter: 'if sequential',
  variableCounter: 'if variable',
  processId: 'process id',
  macFragment: 'MAC fragment',
  keyId: 'key id',
  id: 'id inside',
};

export const inspectCommand: Command = {
  name: 'inspect',
  usage: 'ID… | -',
  summary: 'Show the fields of ids of any family: time, node, counter and so on',
  example: 'idsmith inspect 20be0ffc-314a-bd53-7a50-013a65ca76d2',
  flags: {
    'key-file': { type: 'string', value: 'FILE', help: 'keys of public ids: show the ids inside' },
  },
  operands: Number.POSITIVE_INFINITY,
  run(given) {
    const [id, second] = given.rest;
    const isOne = id !== undefined && id !== '-' && second === undefined;
    return isOne ? one(id, given) : many(results(idsOf(given), given), given);
  },
};

/** The codecs that may open a text. */
type Readers = (text: string) => PublicIdReader[];

/** Makes the codec of a public id from its prefix and form, with the keys of `--key-file`. */
async function readersOf(given: Given): Promise<Readers> {
  const file = given.text('key-file');
  if (file === undefined) return () => [];
  const keys = Object.entries(await readKeyFile(file));
  // A key that is no key is refused before any id is shown.
  publicIds({ prefix: 'x', keys: Object.fromEntries(keys) });
  return (text) => {
    const shape = describePublicId(text.trim());
    if (shape === undefined) return [];
    const short = shape.form === 'short';
    // Only the key that the text names is needed. Its id fits the form, and others may not.
    const named = Object.fromEntries(keys.filter(([id]) => Number(id) === shape.keyId));
    if (Object.keys(named).length === 0) return [];
    const of = shape.form === 'uuid' ? 'uuid' : 'int64';
    return [publicIds<string, 'int64' | 'uuid'>({ prefix: shape.prefix, keys: named, of, short })];
  };
}

/** The ids of the arguments; those of standard input for `-`, or where nothing is named and something is piped in. */
async function* idsOf({ rest, signal, io }: Given): AsyncIterable<string> {
  if (rest.length === 0 && io.stdin.isTTY)
    throw new UsageError('inspect needs ids: name them, or pipe them in, one a line');
  const sources = rest.length === 0 ? ['-'] : rest;
  let isRead = false;
  for (const source of sources) {
    if (source !== '-') yield source.trim();
    else if (!isRead) {
      isRead = true;
      yield* inputLines(io.stdin, signal);
    }
  }
}

async function* one(id: string, given: Given): AsyncIterable<string> {
  const readers = await readersOf(given);
  const readings = requireReadings(id, { publicIds: readers(id) });
  if (given.on('json')) yield jsonText(toJson({ id: id.trim(), readings }), 2);
  else yield* readings.flatMap(toLines);
}

/**
 * All ids, each with its readings or the reason why it has none.
 *
 * @throws NegativeVerdict after the last id, if some are not ids of any family
 */
async function* results(ids: AsyncIterable<string>, given: Given): AsyncIterable<Result> {
  const readers = await readersOf(given);
  let [count, unknown] = [0, 0];
  for await (const id of ids) {
    count++;
    const result = resultOf(id, readers(id));
    if ('error' in result) unknown++;
    yield result;
  }
  if (count === 0) throw new UsageError('inspect needs ids: there are none on standard input');
  if (unknown > 0) throw new NegativeVerdict(2, `${unknown} of ${count} are not ids of any family`);
}

function many(found: AsyncIterable<Result>, given: Given): Lines {
  return given.on('json') ? jsonArray(mapped(found, toJson)) : blocks(found);
}

/** An id and its readings, or the reason why it has none. */
type Result =
  | { readonly id: string; readonly readings: Reading[] }
  | { readonly id: string; readonly error: { readonly code: string; readonly message: string } };

function resultOf(id: string, publicIds: PublicIdReader[]): Result {
  try {
    return { id, readings: requireReadings(id, { publicIds }) };
  } catch (error) {
    if (!(error instanceof IdError)) throw error;
    return { id, error: { code: error.code, message: error.message } };
  }
}

async function* mapped<From, To>(values: AsyncIterable<From>, map: (value: From) => To): AsyncIterable<To> {
  for await (const value of values) yield map(value);
}

/** A block of lines for each id, with an empty line between two. */
async function* blocks(results: AsyncIterable<Result>): AsyncIterable<string> {
  let isFirst = true;
  for await (const result of results) {
    if (!isFirst) yield '';
    isFirst = false;
    yield row('id', result.id);
    if ('error' in result) yield row('error', result.error.message);
    else yield* result.readings.flatMap(toLines);
  }
}

function toLines({ family, reason, fields }: Reading, index: number): string[] {
  const rows = [
    ['family', family],
    ['reason', reason],
    ...Object.entries(fields).map(([name, value]) => [LABELS[name] ?? name, value]),
  ];
  const lines = rows.map(([label, value]) => row(String(label), String(value)));
  return index === 0 ? lines : ['', 'or', '', ...lines];
}

const row = (label: string, value: string) => `${padToWidth(label, 16)}${visible(value)}`;

/** The best reading's fields at the top and the other readings below. */
function toJson(result: Result): object {
  if ('error' in result) return result;
  const [best, ...others] = result.readings.map(({ family, reason, fields: { id: inside, ...fields } }) => ({
    family,
    reason,
    ...fields,
    // The id of the result is the text itself.
    ...(inside !== undefined && { inside }),
  }));
  return { id: result.id, ...best, ...(others.length > 0 && { others }) };
}
