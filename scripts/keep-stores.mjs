// node scripts/keep-stores.mjs 0.3.0: keeps what this version writes into every store, in test/upgrade/releases, so that the tests of
// later versions go on with it. Run it once, after `npm run build`, in the commit of the release.

import { mkdirSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { acquireLease, FlakeGenerator, Sequences } from 'idsmith';
import { openStore } from 'idsmith/stores';

register('../test/typescript.mjs', import.meta.url);
const { STORE_SERVERS } = await import('../test/services/index.ts');
const { DUMPS, urlFor } = await import('../test/upgrade/dumps.ts');

const [version] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(version ?? '')) {
  console.error('name the version: node scripts/keep-stores.mjs 0.3.0');
  process.exit(2);
}
const folder = fileURLToPath(new URL(`../test/upgrade/releases/${version}/`, import.meta.url));
mkdirSync(folder, { recursive: true });

const given = {};
for (const [name, , start] of STORE_SERVERS) {
  const server = await start();
  try {
    given[name] = await live(urlFor(name, server.url));
    await DUMPS[name].write(server.url, `${folder}${DUMPS[name].file}`);
  } finally {
    await server.stop();
  }
  console.log(`${name}: ${DUMPS[name].file}`);
}
writeFileSync(`${folder}given.json`, `${JSON.stringify(given, undefined, 1)}\n`);

/** Uses a store, so that something is in it, and returns the ids that were given out. */
async function live(url) {
  const store = await openStore(url);
  const sequences = new Sequences(store);
  await sequences.define('orders', { start: 10_000, blockSize: 10 });
  await sequences.define('countdown', { start: -5, step: -5, min: -1000, blockSize: 4 });
  await sequences.define('large', { start: 9_007_199_254_740_993n });
  await sequences.define('round and round', { start: 1, cycle: true, max: 30 });
  const given = {};
  for (const name of ['orders', 'countdown', 'large', 'round and round']) {
    const sequence = await sequences.get(name);
    given[name] = (await sequence.batch(25)).map(String);
  }
  await sequences.close();

  const leases = [];
  for (let i = 0; i < 3; i++) {
    leases.push(await acquireLease(store, { namespace: 'orders', size: 512, label: 'kept' }));
  }
  given.flakes = [];
  for (const lease of leases) {
    const flakes = new FlakeGenerator({ node: lease });
    given.flakes.push(...Array.from({ length: 20 }, () => String(flakes.next())));
  }
  // One was released and two were not, as after a crash.
  await leases[1].release();
  await store.close();
  return given;
}
