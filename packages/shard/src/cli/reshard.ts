import process from 'node:process';
import { IdError, StoreError } from 'idsmith/internal';
import {
  type Command,
  count,
  duration,
  type Given,
  Interrupted,
  ProgressBar,
  readInteger,
  table,
  UsageError,
  VERBOSE,
} from 'idsmith/internal/cli';
import { ShardMap } from '../map/shard-map.js';
import type { EarlyMinting } from '../reshard/checks.js';
import { MismatchError } from '../reshard/compare-states.js';
import type { SkippedKeys } from '../reshard/key-placement.js';
import type { PlanOptions, ReshardProgress } from '../reshard/options.js';
import { planReshard, type ReshardPair } from '../reshard/plan-reshard.js';
import { abortReshard } from '../transition/abort-reshard.js';
import { type ReshardReport, reshard } from '../transition/reshard.js';
import { readShardConfig } from './key.js';

export const reshardCommand: Command = {
  name: 'reshard',
  usage: '--from a.json --to b.json [--dry-run | --abort]',
  summary: 'Move sharded keys to other nodes while applications use them',
  example: 'idsmith reshard --from four.json --to six.json --dry-run',
  flags: {
    from: { type: 'string', value: 'FILE', help: 'the old config: .json, .js, .cjs or .mjs' },
    to: { type: 'string', value: 'FILE', help: 'the new config' },
    'dry-run': { type: 'boolean', help: 'count the keys that would move, and move nothing' },
    abort: { type: 'boolean', help: 'give up a resharding that is not finished: all keys go back' },
    gone: { type: 'string', value: 'NODE,…', help: 'go on without nodes that are lost for good' },
    rate: { type: 'string', value: 'N', help: 'the largest number of keys to move in a second' },
    batch: { type: 'string', value: 'N', help: 'the largest number of keys in one script, default 500' },
    'accept-volatile-target': {
      type: 'boolean',
      help: 'move keys to nodes that lose them in a crash',
    },
    'accept-evicting-target': {
      type: 'boolean',
      help: 'move keys to nodes that remove keys when they are full',
    },
    'accept-no-abort': {
      type: 'boolean',
      help: 'move keys although older nodes could not take them back',
    },
    'accept-older': {
      type: 'string',
      value: 'NODE,…',
      help: 'go on with nodes that came back with older data, also data about minting',
    },
    verbose: VERBOSE,
    types: { type: 'string', value: 'TYPE,…', help: 'types of your keys that are not in keyTypes' },
    pattern: { type: 'string', value: 'REGEX', help: 'names of further keys that are yours' },
    'all-keys': { type: 'boolean', help: 'also move keys of other programs, like session:42' },
  },
  handlesSignals: true,
  async *run(given) {
    if (given.on('abort') && given.on('dry-run'))
      throw new UsageError('--abort and --dry-run cannot be given together');
    const kept = KEPT_FLAGS.find(
      (flag) => given.on('abort') && (given.on(flag) || given.text(flag) !== undefined),
    );
    if (kept !== undefined)
      throw new UsageError(
        `--abort does not take --${kept}: the nodes know which keys were moved. Leave --${kept} out`,
      );
    const [from, to] = [await readShardConfig(given, 'from'), await readShardConfig(given, 'to')];
    const maps = [new ShardMap(from), new ShardMap(to)] as const;
    try {
      yield* given.on('dry-run') ? plan(maps, given) : move(maps, given);
    } finally {
      await Promise.all(maps.map((map) => map.close()));
    }
  },
};

/** The flags whose values the nodes keep from the beginning of a resharding on. */
const KEPT_FLAGS = [
  'types',
  'pattern',
  'all-keys',
  'accept-volatile-target',
  'accept-evicting-target',
  'accept-no-abort',
];

type Maps = readonly [from: ShardMap, to: ShardMap];

async function* plan([from, to]: Maps, given: Given): AsyncIterable<string> {
  given.activity.wait('counting keys');
  const planned = await planReshard(from, to, {
    ...keyOptions(given),
    gone: names(given, 'gone'),
    acceptOlder: names(given, 'accept-older'),
  });
  if (given.on('json')) yield JSON.stringify(planned, undefined, 2);
  else {
    const { pairs, keys, bytes, stay, skipped } = planned;
    yield* pairTable([from, to], pairs, keys, bytes);
    yield `${count(stay)} keys stay${skipped === 0 ? '' : `, ${count(skipped)} others are left alone`}`;
    yield* skippedLines(planned);
    yield* mintingLines(planned);
  }
}

async function* move([from, to]: Maps, given: Given): AsyncIterable<string> {
  const rate = readInteger(given, 'rate', 1, 1e9);
  const batch = readInteger(given, 'batch', 1, 10_000);
  const bar = new ProgressBar(given.io.stderr);
  let moved = 0;
  const controller = new AbortController();
  // A second signal ends the process at once. Nothing is lost then, either.
  const stop = () => controller.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  let hasBegun = false;
  try {
    const gone = names(given, 'gone');
    for (const node of gone)
      given.io.stderr.write(
        `idsmith: node ${node} is given up: keys and values that were only there are lost\n`,
      );
    const isAbort = given.on('abort');
    const run = isAbort ? abortReshard : reshard;
    const report = await run(from, to, {
      ...(!isAbort && keyOptions(given)),
      gone,
      acceptOlder: names(given, 'accept-older'),
      ...(rate !== undefined && { rate }),
      ...(batch !== undefined && { batch }),
      signal: controller.signal,
      onProgress: (progress) => {
        moved = progress.moved;
        showProgress(bar, progress);
      },
      onBegin: () => {
        hasBegun = true;
      },
    });
    bar.end();
    given.io.stderr.write(
      `idsmith: ${count(report.moved)} keys moved ${isAbort ? 'back ' : ''}in ${duration(report.seconds)}\n`,
    );
    if (given.on('json')) yield JSON.stringify(report, undefined, 2);
    else yield* pairTable(isAbort ? [to, from] : [from, to], report.pairs, report.moved, report.bytes);
    for (const line of remarks(report, isAbort)) given.io.stderr.write(`idsmith: ${line}\n`);
  } catch (error) {
    bar.end();
    throw withAdvice(error, controller.signal, hasBegun, moved);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

/** The options that decide which keys belong to the maps. A flag that is not given leaves its option out. */
function keyOptions(given: Given): PlanOptions {
  const [types, pattern] = [given.text('types'), given.text('pattern')];
  return {
    ...(given.on('all-keys') && { allKeys: true }),
    ...(given.on('accept-volatile-target') && { acceptVolatileTarget: true }),
    ...(given.on('accept-evicting-target') && { acceptEvictingTarget: true }),
    ...(given.on('accept-no-abort') && { acceptNoAbort: true }),
    ...(types !== undefined && {
      types: types.split(',').map((type) => (/^\d+$/.test(type) ? Number(type) : type)),
    }),
    ...(pattern !== undefined && { pattern: readPattern(pattern) }),
  };
}

function readPattern(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch (cause) {
    throw new UsageError(`--pattern is not a regular expression: ${(cause as Error).message}`, { cause });
  }
}

/** Lines about the keys that are left alone. */
function skippedLines({ skipped, skippedKeys, unknownTypes }: SkippedKeys): string[] {
  if (skipped === 0) return [];
  const names = skippedKeys.map((name) => JSON.stringify(name)).join(', ');
  const types = Object.entries(unknownTypes).map(([type, keys]) => `${type} (${count(keys)} keys)`);
  return [
    `left alone: ${names}${skipped > skippedKeys.length ? ', …' : ''}`,
    ...(types.length > 0
      ? [`types that are not in keyTypes: ${types.join(', ')}. If such keys are yours, give --types`]
      : []),
  ];
}

/** Lines about keys that the new nodes mint before the resharding. */
function mintingLines({ mintedBefore, mayMintEarly }: Partial<EarlyMinting>): string[] {
  const names = mintedBefore?.join(', ') ?? '';
  return [
    ...(names === ''
      ? []
      : [
          `node ${names} has minted keys for the new map before minting was handed over: the old nodes may have minted the same keys. ` +
            'Look for keys that two programs got in that time',
        ]),
    ...(mayMintEarly && names === ''
      ? [
          'the new nodes do not know the old ones: put takesOver: true into the new config, so that genKey refuses until minting was handed over',
        ]
      : []),
  ];
}

/** The names in a flag, with commas between. */
function names(given: Given, flag: string): string[] {
  return given.text(flag)?.split(',') ?? [];
}

/** Remarks on a successful run, for people. */
function remarks(report: ReshardReport, isAbort: boolean): string[] {
  const { skipped, superseded, lapsed } = report;
  return [
    ...(skipped > 0 ? [`${count(skipped)} keys were left alone: they are not keys of these maps`] : []),
    ...skippedLines(report),
    ...mintingLines(report),
    ...(superseded > 0
      ? [
          isAbort
            ? `${count(superseded)} copies on new nodes were dropped: the old nodes still had the values`
            : `${count(superseded)} values of old nodes were dropped: the new nodes had newer values`,
        ]
      : []),
    ...(lapsed > 0
      ? [`${lapsed} processes with a map in transition were silent for 10 s and counted as dead`]
      : []),
  ];
}

/** Adds to an error how many keys were moved and how to continue, if there is anything to continue. */
function withAdvice(error: unknown, signal: AbortSignal, hasBegun: boolean, moved: number): unknown {
  const advice = 'run the same command again to continue';
  if (signal.aborted && error === signal.reason)
    return new Interrupted(
      hasBegun
        ? `stopped: ${count(moved)} keys were moved so far; ${advice}`
        : 'stopped: nothing was changed',
    );
  if (hasBegun && error instanceof IdError && error.code === 'STORE' && !(error instanceof MismatchError))
    return new StoreError(`${error.message}; ${count(moved)} keys were moved so far: ${advice}`, {
      cause: error,
    });
  return error;
}

function pairTable([from, to]: Maps, pairs: readonly ReshardPair[], keys: number, bytes: number): string[] {
  const place = (map: ShardMap, name: string) => {
    const address = map.nodes.find((node) => node.name === name)?.address;
    return address === name ? name : `${name} (${address})`;
  };
  const rows = pairs.map((pair) => [
    place(from, pair.from),
    place(to, pair.to),
    count(pair.keys),
    count(pair.bytes),
  ]);
  return table(['from', 'to', 'keys', 'bytes'], [...rows, ['all', '', count(keys), count(bytes)]]);
}

/** Shows how far a resharding is. */
export function showProgress(bar: ProgressBar, progress: ReshardProgress): void {
  const share = progress.total === 0 ? 1 : progress.scanned / progress.total;
  const text = describe(progress);
  bar.show(share, `${`${Math.floor(share * 100)} %`.padStart(5)}  ${text}`, text);
}

function describe({ moved, rate, left }: ReshardProgress): string {
  const time = left === undefined ? '' : `, ${duration(left)} left`;
  // The rate of the first keys is not known yet.
  const speed = Math.round(rate) === 0 ? '' : `, ${count(Math.round(rate))} a second`;
  return `${count(moved)} keys moved${speed}${time}`;
}
