// npm run freeze-release -- 0.2.0 [--dist FOLDER]: keeps a release for the tests of later ones, in test/upgrade/releases: its code as one
// file, and what it writes into every store. To be run once, when the version is released.

import { mkdirSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { live, urlFor } from '../test/upgrade/life.mjs';

register('../test/chaos/typescript.mjs', import.meta.url);
const { STORE_SERVERS } = await import('../test/services/index.ts');
const { DUMPS } = await import('../test/upgrade/dumps.ts');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dist: { type: 'string', default: 'packages/idsmith/dist' } },
});
const [version] = positionals;
if (!/^\d+\.\d+\.\d+$/.test(version ?? '')) {
  console.error('name the version: npm run freeze-release -- 0.2.0');
  process.exit(2);
}
const folder = fileURLToPath(new URL(`../test/upgrade/releases/${version}/`, import.meta.url));
mkdirSync(folder, { recursive: true });

await build({
  stdin: {
    contents: `export { acquireLease, FlakeGenerator, layouts, Sequences } from './index.js';
      export { openStore } from './stores/index.js';`,
    resolveDir: values.dist,
  },
  outfile: `${folder}idsmith.mjs`,
  ...{ bundle: true, format: 'esm', platform: 'node', packages: 'external', minify: true },
});
const release = await import(pathToFileURL(`${folder}idsmith.mjs`).href);

const given = {};
for (const [name, , start] of STORE_SERVERS) {
  const server = await start();
  try {
    given[name] = await live(release, urlFor(name, server.url));
    await DUMPS[name].write(server.url, `${folder}${DUMPS[name].file}`);
  } finally {
    await server.stop();
  }
  console.log(`${name}: ${DUMPS[name].file}`);
}
writeFileSync(`${folder}given.json`, `${JSON.stringify(given, undefined, 1)}\n`);
