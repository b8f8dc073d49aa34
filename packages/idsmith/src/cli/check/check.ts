import { layouts } from '../../flake/layouts.js';
import { requireChoice } from '../../options.js';
import { type Command, type Given, NegativeVerdict, UsageError } from '../command.js';
import { jsonText } from '../text.js';
import { IdFile } from './id-file.js';
import { type LayoutName, originOf } from './origin.js';
import { findRepeats } from './repeats.js';
import { type Findings, surplusOf, toJson, toLines } from './report.js';
import { guessLayouts, Survey } from './survey.js';

const NAMES = Object.keys(layouts) as [LayoutName, ...LayoutName[]];

export const checkCommand: Command = {
  name: 'check',
  usage: '[FILE] [--layout NAME]',
  summary: 'Find repeats, order, nodes and time gaps in ids that you have',
  example: 'idsmith check orders.txt',
  operands: 1,
  flags: {
    ids: {
      type: 'string',
      value: 'FILE',
      help: 'the same as FILE: the ids, one a line; - or a pipe is standard input',
    },
    layout: {
      type: 'string',
      value: 'NAME',
      help: `the layout of flakes: ${NAMES.join(', ')}; default the one that fits best`,
    },
  },
  async *run(given) {
    const layout = given.text('layout') as LayoutName | undefined;
    if (layout !== undefined) requireChoice('--layout', layout, NAMES);
    const file = await open(given);
    try {
      const findings = await examine(file, layout, given);
      if (given.on('json')) yield jsonText(toJson(findings), 2);
      else yield* toLines(findings);
      const { repeats } = findings;
      const more = repeats.isComplete ? '' : 'more than ';
      if (repeats.list.length > 0)
        throw new NegativeVerdict(
          1,
          `repeated ids: ${more}${repeats.list.length}; lines too many: ${more}${surplusOf(repeats)}`,
        );
    } finally {
      file.close();
    }
  },
};

async function open(given: Given): Promise<IdFile> {
  const [operand] = given.rest;
  if (operand !== undefined && given.text('ids') !== undefined)
    throw new UsageError('check takes FILE or --ids FILE, not both');
  const path = operand ?? given.text('ids') ?? (given.io.stdin.isTTY ? undefined : '-');
  if (path === undefined) throw new UsageError('check needs a file of ids, or ids piped in');
  return await IdFile.open(path, given);
}

async function examine(file: IdFile, named: LayoutName | undefined, given: Given): Promise<Findings> {
  const [best, ...otherLayouts] = named === undefined ? await guessLayouts(file) : [named];
  const layout = best === undefined ? undefined : layouts[best];
  given.activity.wait('reading the ids');
  const survey = new Survey(layout);
  await survey.read(file);
  const total = survey.ids + survey.unreadableCount;
  if (total === 0) throw new UsageError('check needs ids: there are none');
  given.activity.wait(`comparing ${total} ids`);
  const repeats = await findRepeats(file, total);
  given.activity.end();
  return { survey, repeats, layout: best, otherLayouts, originOf: (id) => originOf(id, layout) };
}
