import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { InvalidOptionError } from 'idsmith';
import {
  type Command,
  type Given,
  type Io,
  jsonText,
  NegativeVerdict,
  ProgressBar,
  readInteger,
  refuseMemory,
  refuseName,
  requireSqliteFile,
  type StoreUrl,
  similarFile,
  storeFlags,
  storeUrl,
  UsageError,
  withoutLogin,
} from 'idsmith/internal/cli';
import type { Family } from '../families.js';
import { AnswerLimit } from '../history/history.js';
import { failureText, type Report, reportLines } from '../report/report.js';
import { findRuns, removeRun } from '../runs/verify/trial-names.js';
import { verify } from '../runs/verify/verify.js';
import { openTarget, type StoreTarget } from '../target.js';

/** The families that the command mints. */
const FAMILIES: readonly Family[] = ['flakes', 'locality', 'sequences'];

/** The longest ttl on a Redis that can forget, ms. The wait for a new namespace is a little longer. */
const SHORT_MAX_TTL = 4000;

/** The time that a process may take to end after its report, ms. */
const LINGER_MS = 3000;

export const verifyCommand: Command = {
  name: 'verify',
  usage: '--store URL [--minutes N]',
  summary: 'Try your store with processes and faults, and tell which rule it breaks',
  example: 'idsmith verify --store sqlite:./ids.db --minutes 5',
  flags: {
    ...storeFlags('the store to try'),
    'store-module': {
      type: 'string',
      value: 'FILE',
      help: 'a module that exports openStore, for a store of your own',
    },
    minutes: { type: 'string', value: 'N', help: 'the time with faults; default 1, may be a fraction' },
    processes: { type: 'string', value: 'N', help: 'the number of processes that mint; default 4' },
    families: { type: 'string', value: 'LIST', help: `the families to mint; default ${FAMILIES.join(',')}` },
    timeout: {
      type: 'string',
      value: 'SECONDS',
      help: 'the longest wait for an answer of the store; default 60',
    },
    seed: { type: 'string', value: 'N', help: 'the seed of the faults; default random' },
    clean: { type: 'boolean', help: 'only remove what killed runs have left in the store' },
  },
  // Names that stay in the store are found and removed later, but the user does not expect them there.
  grace: 60_000,
  async *run(given) {
    const { target, name, missing } = targetOf(given);
    if (given.on('clean')) return yield* clean(target, given);
    const bar = new ProgressBar(given.io.stderr);
    const options = {
      families: familiesOf(given.text('families')),
      processes: readInteger(given, 'processes', 1, 16) ?? 4,
      minutes: minutesOf(given.text('minutes')),
      seed: readInteger(given, 'seed', 0, 2 ** 31) ?? Math.floor(Math.random() * 2 ** 31),
      timeout: timeoutOf(given),
      signal: given.signal,
      onProgress: (share: number, text: string) => bar.show(share, text),
    };
    given.activity.say(`seed ${options.seed}`);
    const run = (to: StoreTarget) => verify(to, name, options);
    const trial = missing === undefined ? run(target) : onTemporaryFile(missing, given, run);
    const report = await trial.finally(() => {
      bar.end();
      endLingeringProcess(given.io);
    });
    if (given.on('json')) yield jsonText(report, 2);
    else yield* reportLines(report);
    if (report.verdict === 'failed') throw new NegativeVerdict(1, failureText(report));
  },
};

/**
 * Ends the process some time after the run, if a connection or a timer of the store still keeps the process: for example a call without
 * an answer.
 */
function endLingeringProcess(io: Io): void {
  if (io !== process) return;
  const timer = setInterval(() => process.stdout.writableLength === 0 && process.exit(), LINGER_MS);
  timer.unref();
}

/** What the user has named. */
interface Named {
  readonly target: StoreTarget;
  /** The store for people, without a password. */
  readonly name: string;
  /** The path of a SQLite file that is not there yet. */
  readonly missing?: string;
}

function targetOf(given: Given): Named {
  const module = given.text('store-module');
  if (module !== undefined) {
    if (given.text('store') !== undefined)
      throw new UsageError('verify takes --store or --store-module, not both');
    return { target: { module }, name: module };
  }
  const named = storeUrl(given);
  if (named === undefined)
    throw new UsageError('verify needs --store, for example --store sqlite:./ids.db, or --store-module FILE');
  const { url, source } = named;
  refuseMemory(named);
  const name = withoutLogin(url);
  const missing = given.on('clean') ? undefined : missingFile(named);
  if (missing !== undefined) return { target: { url }, name, missing };
  requireSqliteFile(source, url, false);
  return { target: { url: withShortMaxTtl(url) }, name };
}

/**
 * The path of a SQLite file that is not there yet, and that a temporary file can stand in for. A name that is nearly the name of
 * another file may be a mistake, and gives `undefined`.
 *
 * @throws StoreError when there can be no file at the path
 */
function missingFile({ url, source }: StoreUrl): string | undefined {
  const file = requireSqliteFile(source, url, true);
  return file?.isNew && similarFile(file.path) === undefined ? file.path : undefined;
}

/**
 * Runs a trial on a temporary file in the folder of a missing one, so that the disk and its locks are those of the later file.
 * The file is removed at the end, and nothing is made at the path itself.
 */
async function onTemporaryFile(
  missing: string,
  { activity }: Given,
  run: (target: StoreTarget) => Promise<Report>,
): Promise<Report> {
  const folder = mkdtempSync(join(dirname(missing), 'idsmith-verify-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  // A second Ctrl-C ends the process at once.
  process.once('exit', remove);
  activity.say(`there is no file ${missing}: trying ${join(folder, 'ids.db')}`);
  try {
    const report = await run({ url: `sqlite:${relative('', join(folder, 'ids.db'))}` });
    const note = `there is no file ${missing} yet: the run used a temporary one in the same folder, and removed it`;
    return { ...report, notes: [note, ...report.notes] };
  } finally {
    remove();
    process.off('exit', remove);
  }
}

/** A Redis that can forget makes a new namespace wait for its longest ttl. The namespaces of a run need no long one. */
function withShortMaxTtl(url: string): string {
  // By hand: a URL of several servers is none of the standard.
  const [, place, query = ''] = /^(rediss?(?:\+cluster|\+sentinel)?:[^?#]*)(\?[^#]*)?$/i.exec(url) ?? [];
  const settings = new URLSearchParams(query);
  if (place === undefined || settings.get('durable') === 'true') return url;
  const given = settings.get('maxTtl');
  if (given === null || Number(given) > SHORT_MAX_TTL) settings.set('maxTtl', String(SHORT_MAX_TTL));
  return `${place}?${settings}`;
}

function familiesOf(text: string | undefined): readonly Family[] {
  if (text === undefined) return FAMILIES;
  const names = text.split(',').map((name) => name.trim());
  for (const name of names)
    if (!(FAMILIES as readonly string[]).includes(name)) refuseName('--families', name, FAMILIES);
  return FAMILIES.filter((family) => names.includes(family));
}

function minutesOf(text = '1'): number {
  const minutes = /^\d{1,3}(\.\d{1,4})?$/.test(text) ? Number(text) : Number.NaN;
  if (minutes > 0 && minutes <= 60) return minutes;
  throw new InvalidOptionError(`--minutes must be a number from 0.01 to 60, not ${JSON.stringify(text)}`);
}

/** The longest wait for an answer, ms. */
const timeoutOf = (given: Given) => 1000 * (readInteger(given, 'timeout', 1, 3600) ?? 60);

/** Removes the names of all runs, also of those that may be going on. */
async function* clean(target: StoreTarget, given: Given): AsyncIterable<string> {
  const limit = new AnswerLimit(timeoutOf(given), { signal: given.signal });
  const store = limit.on(await limit.wait('open', () => openTarget(target)));
  try {
    const { over, active } = await findRuns(store, Date.now());
    const removed: { run: string; left: string[] }[] = [];
    for (const run of [...over, ...active]) {
      given.signal.throwIfAborted();
      removed.push({ run, left: await removeRun(store, run) });
    }
    if (given.on('json')) yield jsonText({ removed }, 2);
    else if (removed.length === 0) yield 'no run has left anything';
    for (const { run, left } of given.on('json') ? [] : removed)
      yield left.length === 0 ? `removed ${run}` : `${run}: still there: ${left.join(', ')}`;
  } finally {
    endLingeringProcess(given.io);
    await store.close();
  }
}
