// One of the processes of a soak run. It mints a few handfuls a second of each of its families and appends every id to its
// file, through whatever happens, until SIGTERM. An error that no fault explains ends it.

import { openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'idsmith/connect';
import { ShardMap } from 'idsmith/shard';
import { openStore } from 'idsmith/stores';
import { FAMILIES } from './families.mjs';

const task = JSON.parse(process.argv[2]);

/** Between two handfuls of a family, ms, on average. */
const STEP = 100;
/** Errors that faults explain: the call is made again. */
const EXPECTED = new Set(['STORE', 'CLOCK', 'LEASE_FENCED', 'LEASES_EXHAUSTED']);
/** Closing waits no longer than this, ms, for connections on which nothing will ever come. */
const CLOSE_MS = 4000;

const file = openSync(task.idsFile, 'a');
const readOffset = () => Number(readFileSync(task.clockFile, 'utf8'));
let offset = readOffset();
setInterval(() => {
  offset = readOffset();
}, 100).unref();

/** Each silent family of a source with its last error, in a file for those who ask why. */
const troubles = {};
setInterval(() => writeFileSync(task.troublesFile, JSON.stringify(troubles)), 1000).unref();

let isEnding = false;
process.once('SIGTERM', () => {
  isEnding = true;
});

/** Appends ids as records; `record.ts` says what is in them. */
function write(family, number, ids, waited) {
  const bytes = Buffer.alloc(24 * ids.length);
  ids.forEach((id, i) => {
    const at = 24 * i;
    bytes.writeUInt8(task.codes[family], at);
    bytes.writeUInt16BE(number, at + 2);
    // The first of a handful has waited, the others came with it.
    bytes.writeUInt32BE(i === 0 ? Math.round(waited) : 0, at + 4);
    bytes.writeBigUInt64BE(id >> 64n, at + 8);
    bytes.writeBigUInt64BE(id & 0xffff_ffff_ffff_ffffn, at + 16);
  });
  writeSync(file, bytes);
}

async function work(family, source) {
  const { open, mint } = FAMILIES[family];
  let generator;
  let last = performance.now();
  let isFirst = true;
  const key = `${family} of source ${source.number}`;
  while (!isEnding) {
    const ids = [];
    const begin = Date.now();
    troubles[key] ??= `a call at ${new Date(begin).toISOString()} has not returned`;
    try {
      generator ??= await open(source);
      await mint(generator, ids);
    } catch (error) {
      if (!isEnding && !EXPECTED.has(error?.code)) throw error;
      troubles[key] =
        `the call at ${new Date(begin).toISOString()} failed after ${Date.now() - begin} ms: ${error?.message}`;
    }
    if (ids.length > 0) {
      write(family, source.number, ids, performance.now() - last);
      last = performance.now();
      delete troubles[key];
      if (isFirst && task.plant?.repeat?.includes(family)) write(family, source.number, [ids[0]], 0);
      if (task.plant?.mute?.includes(family)) return;
      isFirst = false;
    }
    await sleep(STEP * (0.5 + Math.random()));
  }
}

/** Opens a store that asks its server at once, sooner or later. */
async function retried(open) {
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!EXPECTED.has(error?.code)) throw error;
      if (isEnding) process.exit(0);
      await sleep(STEP);
    }
  }
}

/** What the families of this process mint from: several of them where a store is for one process only. */
async function openSources() {
  const { target, members, lease, layout } = task;
  if (target.shards) {
    const map = new ShardMap(target.shards);
    return [{ number: task.number, map, close: () => map.close() }];
  }
  const store = await retried(() => openStore(target.url));
  return Promise.all(
    Array.from({ length: members }, async (_, i) => {
      const ids = await connect(store);
      // Members of one process have clocks that differ, too.
      const clock = { now: () => Date.now() + offset + 20 * i };
      const leases = [];
      const close = async () => {
        await Promise.allSettled([ids.close(), ...leases.map((each) => each.release())]);
        await store.close();
      };
      return { number: task.number + i, ids, store, clock, lease, leases, layout, close };
    }),
  );
}

const sources = await openSources();
const loops = sources.flatMap((source) => task.families.map((family) => work(family, source)));
// Who waits for an id when the end comes is told by the closing, or left alone.
for (const loop of loops) loop.catch((error) => isEnding || fail(error));
while (!isEnding) await sleep(20);
await Promise.race([Promise.allSettled([...sources.map(({ close }) => close()), ...loops]), sleep(CLOSE_MS)]);
process.exit(0);

function fail(error) {
  console.error(error);
  process.exit(1);
}
