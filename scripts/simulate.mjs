// Runs leases and generators in simulated worlds, one for each seed, with every fault there is.
//
//   npm run simulate -- --seeds 10000 --from 1     ten thousand seeds, from 1 on
//   npm run simulate -- --seeds 1 --from 4711      one seed again, told event by event
//   npm run simulate -- --scale                    the operations of a large fleet, as docs/scale.md shows them
//   npm run simulate -- --scale --server --processes 500 --nodes 400     the same behind a server, in a smaller fleet

import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { dynamodbTable, operationsTable } from './scale-table.mjs';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    scale: { type: 'boolean', default: false },
    server: { type: 'boolean', default: false },
    processes: { type: 'string', default: '10000' },
    nodes: { type: 'string', default: '8192' },
  },
});
const [seeds, from] = [Number(values.seeds), Number(values.from)];
if (!(Number.isSafeInteger(seeds) && seeds > 0 && Number.isSafeInteger(from) && from >= 0)) {
  console.error('usage: simulate --seeds <how many> --from <first seed>');
  process.exit(2);
}

const { simulate, simulateMany, simulateScale } = await load();
if (values.scale) await printScale();
else if (seeds === 1) {
  const { violation, ...outcome } = await simulate(from, undefined, console.log);
  console.log(JSON.stringify(outcome));
  if (violation) fail({ seed: from, violation });
} else {
  const start = performance.now();
  const { failure, ...totals } = await simulateMany(from, seeds, undefined, (sofar) => {
    if (sofar.seeds % 5000 === 0) console.log(`${sofar.seeds} seeds, ${sofar.ids} ids`);
  });
  console.log(
    JSON.stringify({ ...totals, seconds: Math.round((performance.now() - start) / 1000) }, null, 2),
  );
  if (failure) fail(failure);
}

async function printScale() {
  const [processes, nodes, ttl] = [Number(values.processes), Number(values.nodes), 30_000];
  const hasPages = !values.server;
  const phases = await simulateScale({ processes, nodes, ttl, hasPages });
  console.log(
    `${processes} processes, ${nodes} node ids, ttl ${ttl} ms${hasPages ? '' : ', behind a server'}\n`,
  );
  console.log(operationsTable(phases));
  if (hasPages) console.log(`\nDynamoDB\n\n${dynamodbTable(phases, ttl)}`);
}

function fail({ seed, violation }) {
  console.error(`seed ${seed}: ${violation}\nto see it again: npm run simulate -- --seeds 1 --from ${seed}`);
  process.exit(1);
}

/** The simulation is written in TypeScript, which not every Node can run. */
async function load() {
  const here = (path) => fileURLToPath(new URL(`../packages/idsmith/${path}`, import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [here('test/lease/simulation/index.ts')],
    alias: { idsmith: here('src/index.ts'), '#runtime': here('src/runtime/node.ts') },
    ...{ bundle: true, write: false, platform: 'node', format: 'esm', target: 'node20', logLevel: 'error' },
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
