// Runs the library in simulated worlds, one for each seed, with every fault there is.
//
//   npm run lab -- simulate --seeds 10000 --from 1               ten thousand seeds of every kind, from 1 on
//   npm run lab -- simulate --kind sequences,keys --seeds 500    some kinds alone
//   npm run lab -- simulate --kind leases --seed 4711            one seed again, told event by event
//   npm run lab -- simulate --scale                              the operations of a large fleet, as docs/scale.md shows them
//   npm run lab -- simulate --scale --nodes 65536 --ttl 300000   the same with room, and longer leases
//   npm run lab -- simulate --scale --list --processes 500 --nodes 400     the same in a smaller fleet, on a store without readLeases

import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { dynamodbTable, operationsTable } from './scale-table.mjs';

const { values } = parseArgs({
  options: {
    kind: { type: 'string', default: '' },
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    scale: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    processes: { type: 'string', default: '10000' },
    nodes: { type: 'string', default: '8192' },
    ttl: { type: 'string', default: '30000' },
  },
});

const { KINDS, simulateMany, simulateScale } = await load();
const kinds = values.kind === '' ? Object.keys(KINDS) : values.kind.split(',');
const isSingle = values.seed !== undefined;
const [seeds, from] = isSingle ? [1, Number(values.seed)] : [Number(values.seeds), Number(values.from)];
const isCount = Number.isSafeInteger(seeds) && seeds > 0 && Number.isSafeInteger(from) && from >= 0;
if (!isCount || !kinds.every((kind) => Object.hasOwn(KINDS, kind))) {
  console.error(
    'usage: simulate [--kind <kind>,…] --seeds <how many> --from <first seed>\n' +
      `       simulate --kind <kind> --seed <seed>\nkinds: ${Object.keys(KINDS).join(', ')}`,
  );
  process.exit(2);
}

if (values.scale) await printScale();
else {
  const failures = [];
  for (const kind of kinds) failures.push(...(await (isSingle ? tellOne(kind) : runMany(kind))));
  for (const { kind, seed, violation } of failures)
    console.error(
      `${kind}, seed ${seed}: ${violation}\nto see it again: npm run lab -- simulate --kind ${kind} --seed ${seed}`,
    );
  process.exitCode = failures.length > 0 ? 1 : 0;
}

async function tellOne(kind) {
  const { violation, ...outcome } = await KINDS[kind](from, console.log);
  console.log(JSON.stringify({ kind, ...outcome }));
  return violation ? [{ kind, seed: from, violation }] : [];
}

/** Runs all seeds of a kind, or those up to the first failure, and prints the figures. */
async function runMany(kind) {
  const start = performance.now();
  const run = (seed) => KINDS[kind](seed);
  const { failure, ...totals } = await simulateMany(run, from, seeds, undefined, (sofar) => {
    if (sofar.seeds % 5000 === 0) console.log(`${kind}: ${sofar.seeds} seeds, ${sofar.ids} ids`);
  });
  const seconds = Math.round((performance.now() - start) / 1000);
  console.log(JSON.stringify({ kind, from, ...totals, failures: failure ? 1 : 0, seconds }, null, 2));
  return failure ? [{ kind, ...failure }] : [];
}

async function printScale() {
  const [processes, nodes, ttl] = [Number(values.processes), Number(values.nodes), Number(values.ttl)];
  const hasPages = !values.list;
  const phases = await simulateScale({ processes, nodes, ttl, hasPages });
  console.log(
    `${processes} processes, ${nodes} node ids, ttl ${ttl} ms${hasPages ? '' : ', without readLeases'}\n`,
  );
  console.log(operationsTable(phases));
  if (hasPages) console.log(`\nDynamoDB\n\n${dynamodbTable(phases, ttl)}`);
}

/** The simulation is written in TypeScript, which not every Node can run. */
async function load() {
  const here = (path) => fileURLToPath(new URL(`../packages/idsmith/${path}`, import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [here('test/simulation/index.ts')],
    conditions: ['idsmith-source'],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
