import { requireInteger } from '../options.js';
import { markRestored } from '../stores/init.js';
import type { Store } from '../stores/store.js';
import { readInteger } from './arguments.js';
import type { Command, Given } from './command.js';
import { confirm } from './input.js';
import { refuseServer, requireStoreUrl, storeFlags, withStore } from './store.js';
import { jsonText, visible } from './text.js';

export const restoredCommand: Command = {
  name: 'restored',
  usage: '--store URL [--skip N] [--ttl MS] [--yes]',
  summary: 'Say that a store was restored from a backup, or has lost data',
  example: 'idsmith restored --store postgres://app@db/ids',
  flags: {
    ...storeFlags('the store that was restored'),
    skip: {
      type: 'string',
      value: 'N',
      help: 'move every sequence on by this many numbers at least, where the store cannot know how many were given out; 0 after a clean restart',
    },
    ttl: { type: 'string', value: 'MS', help: 'the longest ttl of any lease, if it is more than 30000' },
    yes: { type: 'boolean', help: 'do not ask' },
  },
  run(given) {
    const { url } = requireStoreUrl(given);
    refuseServer(url, 'restored');
    const text = given.text('ttl');
    const ttl = text === undefined ? 0 : requireInteger('--ttl', Number(text), 100, 86_400_000);
    const skip = readInteger(given, 'skip', 0, Number.MAX_SAFE_INTEGER);
    return withStore(given, false, (store) => restored(store, { ttl, skip }, given));
  },
};

async function* restored(
  store: Store,
  { ttl, skip }: { ttl: number; skip: number | undefined },
  given: Given,
): AsyncIterable<string> {
  const begins =
    store.durable === false
      ? '. Programs may define what is missing then: first define what is lost, by idsmith seq define NAME --start BEYOND --lost'
      : '';
  await confirm(
    given,
    `new leases will wait until all earlier ones have ended, and sequences will jump ahead or stop${begins}`,
  );
  const { namespaces, sequences: found } = await markRestored(store, { ttl });
  const sequences: typeof found = await Promise.all(
    found.map(async ({ name, next }) => ({
      name,
      next: next === undefined && skip !== undefined ? await skipNumbers(store, name, skip) : next,
    })),
  );
  if (given.on('json')) {
    yield jsonText({ namespaces, sequences: sequences.map(({ name, next = null }) => ({ name, next })) }, 2);
    return;
  }
  yield `leases of ${namespaces.length} namespaces, and of new ones, wait until all that may have been forgotten have ended`;
  for (const { namespace, waitsUntil } of namespaces)
    yield `  ${visible(namespace)} waits until ${new Date(waitsUntil).toISOString()}`;
  const asking = sequences.filter(({ next }) => next === undefined);
  for (const { name, next } of sequences)
    if (next !== undefined) yield `sequence ${visible(name)} continues at ${next}`;
  for (const { name } of asking)
    yield `sequence ${visible(name)} needs you: npx idsmith seq alter ${visible(name)} --next BEYOND --store URL, with a number beyond all that it gave out`;
  if (asking.length > 0)
    yield 'for all of them at once: npx idsmith restored --skip N --store URL, with more numbers than any of them can have lost';
  yield 'a sequence that was defined after the backup is gone: define it by idsmith seq define NAME --start BEYOND --lost, before a program does';
  if (store.doubtNames !== undefined)
    yield 'other new sequences begin further on than at their start, until idsmith init says that none is missing';
}

/** Moves a sequence on by a block, which may have been lost, and `skip` numbers. Returns the next number; `undefined` if the range has no such number. */
async function skipNumbers(store: Store, name: string, skip: number): Promise<bigint | undefined> {
  const { next, step, blockSize, min, max } = await store.describeSequence(name);
  const wanted = next + BigInt(step) * (BigInt(blockSize) + BigInt(skip));
  if (wanted < min || wanted > max) return undefined;
  return (await store.alterSequence(name, { next: wanted })).next;
}
