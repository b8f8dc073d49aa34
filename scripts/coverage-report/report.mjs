import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { ROOMS, ROOT, shortPath, sourcesOf } from './rooms.mjs';

const FOLDER = join(ROOT, 'coverage/rooms');

/** The digests of all sources by path. Taken before a run, so that a source that is changed meanwhile does not count. */
export function digestsOfSources() {
  return new Map(ROOMS.flatMap(sourcesOf).map((file) => [shortPath(file), digestOf(file)]));
}

/** Keeps what the tests of a room reach: of each source its digest, the line of each statement, and the reached ones. */
export function keep(room, coverageFile, digests) {
  const report = JSON.parse(readFileSync(coverageFile, 'utf8'));
  const sources = {};
  for (const { path, s, statementMap } of Object.values(report)) {
    const keys = Object.keys(statementMap);
    const name = shortPath(path);
    sources[name] = {
      digest: digests.get(name),
      lines: keys.map((key) => statementMap[key].start.line),
      reached: keys.map((key) => (s[key] > 0 ? 1 : 0)),
    };
  }
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, `${room.replace('/', '-')}.json`), JSON.stringify({ room, sources }));
}

/** Prints a table of rooms, and the lines that no test of any measured room reaches. */
export function printReport(rooms) {
  const measured = readMeasured();
  const names = measured.map(({ room }) => room);
  console.log(`\nMeasured: ${names.join(', ') || 'nothing'}\n`);
  console.log(
    '| room | statements | reached by its own tests | reached by the tests of all rooms | not reached |',
  );
  console.log('|---|---|---|---|---|');
  const sums = rooms.map((room) => printRow(room, sourcesIn(room, measured)));
  const total = sums.reduce((sum, part) => sum.map((number, index) => number + part[index]), [0, 0, 0]);
  console.log(rowOf('all', total));
  console.log('');
  for (const room of rooms) printLines(sourcesIn(room, measured));
}

function readMeasured() {
  if (!existsSync(FOLDER)) return [];
  return readdirSync(FOLDER).map((file) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')));
}

/** The sources of a room, each with its statements: reached by the room's own tests, and by any. */
function sourcesIn(room, measured) {
  return sourcesOf(room).map((file) => {
    const [path, digest] = [shortPath(file), digestOf(file)];
    const runs = measured.filter(({ sources }) => sources[path]?.digest === digest);
    const statements = (runs[0]?.sources[path].lines ?? []).map((line, index) => {
      const reaching = runs.filter(({ sources }) => sources[path].reached[index] === 1);
      return { line, own: reaching.some((run) => run.room === room), any: reaching.length > 0 };
    });
    return { file, path, statements, isLoaded: runs.length > 0 };
  });
}

/** False for a file that has only types, or only exports what others have. */
function hasCode(file) {
  const text = readFileSync(file, 'utf8');
  const { code } = transformSync(text, { loader: 'ts' });
  return code.replace(/^export [^;]* from "[^"]*";$/gm, '').trim() !== '';
}

function digestOf(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function printRow(room, sources) {
  const statements = sources.flatMap((source) => source.statements);
  const own = statements.filter((statement) => statement.own).length;
  const any = statements.filter((statement) => statement.any).length;
  console.log(rowOf(`\`${room}\``, [statements.length, own, any]));
  return [statements.length, own, any];
}

function rowOf(name, [count, own, any]) {
  const share = (part) => (count === 0 ? '–' : `${part} (${((100 * part) / count).toFixed(1)} %)`);
  return `| ${name} | ${count} | ${share(own)} | ${share(any)} | ${count - any} |`;
}

function printLines(sources) {
  for (const { file, path, statements, isLoaded } of sources) {
    if (!isLoaded && hasCode(file)) console.log(`  ${path}: no test loads it`);
    const missed = statements.filter(({ any }) => !any).map(({ line }) => line);
    if (missed.length > 0) console.log(`  ${path}: ${rangesOf(missed)}`);
  }
}

/** Line numbers as text, such as `3, 7-9`. */
function rangesOf(lines) {
  const ranges = [];
  for (const line of [...new Set(lines)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && line === last[1] + 1) last[1] = line;
    else ranges.push([line, line]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}
