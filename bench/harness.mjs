// Measures contenders side by side in one process: each is checked first, then all take turns for many rounds.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';

const ROUNDS = 41;
const ROUND_MS = 25;

/**
 * A contender makes ids. `call()` returns text, a bigint, an array of texts, or a number of ids written into memory; `ids`
 * is how many of them one call makes. One that may repeat ids is not disqualified for it; its repeats are counted.
 *
 * @typedef {{ name: string, version: string, call: () => unknown, ids?: number, mayRepeat?: boolean,
 *   check?: (id: unknown) => boolean }} Contender
 */

/** The version of an installed package. */
export function versionOf(name) {
  return JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), 'utf8'))
    .version;
}

/** Nanoseconds an id, as medians. @param {Contender[]} contenders */
export function measure(contenders) {
  for (const contender of contenders) checkOutput(contender);
  const lanes = contenders.map((contender) => {
    const loop = loopFor(contender);
    return { contender, loop, calls: calibrate(loop, contender), times: [] };
  });
  for (let round = 0; round < ROUNDS; round++) {
    for (const lane of lanes) {
      const took = time(lane.loop, lane.contender.call, lane.calls);
      lane.times.push(took / (lane.calls * (lane.contender.ids ?? 1)));
    }
  }
  return lanes.map(({ contender, times }) => ({ ...contender, nanoseconds: median(times) }));
}

/** An id that is not one, or comes twice, disqualifies before anything is timed. */
function checkOutput({ name, call, ids = 1, check = () => true, mayRepeat = false }) {
  if (typeof call() === 'number') return;
  const seen = new Set();
  let count = 0;
  while (count < 200_000) {
    const made = call();
    for (const id of Array.isArray(made) ? made : [made]) {
      if (!['string', 'bigint'].includes(typeof id) || !check(id)) throw new Error(`${name} made ${id}`);
      seen.add(id);
      count++;
    }
    if (Array.isArray(made) && made.length !== ids)
      throw new Error(`${name} made ${made.length} ids, not ${ids}`);
  }
  if (!mayRepeat && seen.size !== count) throw new Error(`${name} made ${count - seen.size} ids twice`);
}

/** How many of `count` 64-bit ids come more than once. */
export function countRepeats(count, call) {
  const ids = new BigUint64Array(count);
  for (let i = 0; i < count; i++) ids[i] = BigInt(call());
  ids.sort();
  let repeats = 0;
  for (let i = 1; i < count; i++) if (ids[i] === ids[i - 1]) repeats++;
  return repeats;
}

/**
 * A loop of its own for each contender, compiled apart, so that none suffers from what the engine has learnt of
 * another. Reading a character makes the engine build the whole string: a rope that nobody reads would look free.
 */
function loopFor({ call, name }) {
  const read = {
    string: 'sum ^= made.charCodeAt(made.length - 1);',
    object: 'for (let k = 0; k < made.length; k++) sum ^= made[k].charCodeAt(made[k].length - 1);',
    number: 'sum ^= made;',
    bigint: 'if (made < last) sum++; last = made;',
  }[typeof call()];
  return new Function(
    'call',
    'calls',
    `let sum = 0; let last = 0n; for (let i = 0; i < calls; i++) { const made = call(); ${read} } return sum; // ${name}`,
  );
}

function calibrate(loop, { call }) {
  for (let calls = 16; ; calls *= 2) {
    const took = time(loop, call, calls);
    if (took > ROUND_MS * 1e6) return calls;
  }
}

let sink = 0;

function time(loop, call, calls) {
  const start = process.hrtime.bigint();
  sink ^= loop(call, calls);
  return Number(process.hrtime.bigint() - start);
}

/** The number in the middle. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** A table for people: what each takes, and how many times as fast ours is. */
export function printTable(title, results, ours) {
  const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}, V8 ${process.versions.v8}`;
  console.log(`${title}\n${machine}\nmedian of ${ROUNDS} interleaved rounds\n`);
  const base = results.find(({ name }) => name === ours).nanoseconds;
  const rows = results.map(({ name, version, nanoseconds }) => [
    name,
    version,
    nanoseconds.toFixed(1),
    (1000 / nanoseconds).toFixed(2),
    (nanoseconds / base).toFixed(2),
  ]);
  const header = ['contender', 'version', 'ns/id', 'million/s', `× (${ours} = 1)`];
  printRows([header, ...rows], 2);
  return machine;
}

/** Rows of texts in columns. The first columns, `left` of them, begin at the left. */
export function printRows(rows, left = 1) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  for (const row of rows)
    console.log(
      row.map((cell, i) => (i < left ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '),
    );
}

/** Targets as ratios, each said to be reached or not. */
export function printTargets(targets) {
  console.log();
  for (const { what, ratio, target } of targets) {
    console.log(
      `${ratio >= target ? 'reached' : 'MISSED '}  ${what}: ${ratio.toFixed(2)} × (to reach: ${Number(target.toFixed(2))} ×)`,
    );
  }
}

/** Writes everything as JSON into bench/results. */
export function save(name, data) {
  const folder = new URL('results/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify({ date, ...data }, undefined, 2)}\n`);
  console.log(`\nwritten to bench/results/${name}.json`);
}

/** What the loops have summed up, so that no engine may leave them out. */
export function consumed() {
  return sink;
}
