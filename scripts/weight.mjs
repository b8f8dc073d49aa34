// npm run weight: what people install, import and wait for, as a table. Build first.
//   --check   compares sizes, files, modules and names with the budgets of weight.json, and measures no time

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../', import.meta.url));
const budgets = JSON.parse(readFileSync(new URL('weight.json', import.meta.url), 'utf8'));
const isCheck = process.argv.includes('--check');

const rows = [];
for (const folder of Object.keys(budgets.packages)) weighPackage(folder);
for (const entry of Object.keys(budgets.imports)) await weighImport(entry);
for (const entry of Object.keys(budgets.names)) countNames(entry);
if (!isCheck) {
  weighBundles();
  measureStarts();
}
finish();

/** The tarball of a package, as `npm pack` would make it. */
function weighPackage(folder) {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--silent'];
  const [packed] = JSON.parse(execFileSync('npm', args, { cwd: `${root}packages/${folder}` }));
  const { packed: kB, unpacked, files } = budgets.packages[folder];
  add(`${packed.name}: tarball`, packed.size / 1000, kB, 'kB');
  add(`${packed.name}: unpacked`, packed.unpackedSize / 1000, unpacked, 'kB');
  add(`${packed.name}: files`, packed.entryCount, files, '');
}

/** The modules that an import loads in Node, and what the first chunk of a bundle would hold. */
async function weighImport(entry) {
  const { metafile, outputFiles } = await build({
    stdin: { contents: `export * from '${entry}';`, resolveDir: root },
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    write: false,
    metafile: true,
    outdir: root,
    absWorkingDir: root,
    logLevel: 'error',
    external: budgets.drivers,
  });
  const isLoaded = ({ kind, external }) => kind === 'import-statement' && !external;
  const modules = reach(metafile.inputs, '<stdin>', isLoaded).size - 1;
  const [first] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === '<stdin>');
  let bytes = 0;
  for (const chunk of reach(metafile.outputs, first, isLoaded))
    bytes += gzipSync(outputFiles.find(({ path }) => path === `${root}${chunk}`).contents).length;
  add(`import '${entry}': modules`, modules, budgets.imports[entry].modules, '');
  add(`import '${entry}': first chunk, gzip`, bytes / 1000, budgets.imports[entry].firstChunk, 'kB');
}

/** The keys of `graph` that are reached from `start`. */
function reach(graph, start, isFollowed) {
  const reached = new Set([start]);
  for (const key of reached)
    for (const link of graph[key].imports) if (isFollowed(link)) reached.add(link.path);
  return reached;
}

/** The names of an entry, types included. Its declarations list them at the end. */
function countNames(entry) {
  const path = entry.replace(/^idsmith\/?/, 'packages/idsmith/dist/');
  const declarations = readFileSync(`${root}${path.replace(/\/?$/, '/index.d.ts')}`, 'utf8');
  const names = /export \{([^}]*)\};\s*$/.exec(declarations)[1].split(',');
  add(`'${entry}': names`, names.length, budgets.names[entry], '');
}

/** The bundles of .size-limit.json, which `npm test` checks by itself. */
function weighBundles() {
  for (const { name, size, sizeLimit } of JSON.parse(run('node_modules/.bin/size-limit', ['--json'])))
    add(`bundle of ${name}, gzip`, size / 1000, sizeLimit / 1000, 'kB');
}

/** Processor time over that of a bare Node. The least of several runs: a busy machine only adds to it. */
function measureStarts() {
  const bare = processorTime(['-e', '0']);
  const program = (entry) => ['--input-type=module', '-e', `import '${entry}'`];
  const cli = 'packages/idsmith/bin/idsmith.js';
  const starts = {
    "import 'idsmith'": program('idsmith'),
    "import 'idsmith/connect'": program('idsmith/connect'),
    'idsmith --help': [cli, '--help'],
    'idsmith flake --node 3': [cli, 'flake', '--node', '3'],
  };
  for (const [name, args] of Object.entries(starts))
    add(`${name}: processor time over bare Node`, processorTime(args) - bare, undefined, 'ms');
}

function processorTime(args) {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 7; i++) {
    const before = childTime();
    run(process.execPath, args);
    least = Math.min(least, childTime() - before);
  }
  return least;
}

/** The processor time of all children that have ended, ms. Linux counts it in hundredths of a second for each process. */
function childTime() {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
  return 10 * (Number(fields[13]) + Number(fields[14]));
}

function run(command, args) {
  // A program that finds something too large fails, and says so on its output.
  return spawnSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    .stdout;
}

function add(name, value, budget, unit) {
  rows.push({ name, value, budget, unit, isOver: budget !== undefined && value > budget });
}

function finish() {
  const show = (value, unit) => (value === undefined ? '' : `${Math.round(value * 10) / 10} ${unit}`.trim());
  if (!isCheck) {
    console.log('| | now | budget |\n|---|---:|---:|');
    for (const { name, value, budget, unit } of rows)
      console.log(`| ${name} | ${show(value, unit)} | ${show(budget, unit)} |`);
  }
  const over = rows.filter(({ isOver }) => isOver);
  for (const { name, value, budget, unit } of over)
    console.error(
      `${name} is ${show(value, unit)}, more than its budget of ${show(budget, unit)} in scripts/weight.json`,
    );
  process.exitCode = over.length > 0 ? 1 : 0;
}
