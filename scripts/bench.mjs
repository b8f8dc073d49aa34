// npm run bench [-- locality flake]: the benchmarks named, or all of them.

import { readdirSync } from 'node:fs';

const folder = new URL('../bench/', import.meta.url);
const all = readdirSync(folder)
  .filter((name) => name.endsWith('.mjs') && name !== 'harness.mjs')
  .map((name) => name.slice(0, -4));
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`no benchmark ${unknown.join(', ')}; there are ${all.join(', ')}`);
  process.exit(2);
}
for (const name of asked.length > 0 ? asked : all) await import(new URL(`${name}.mjs`, folder).href);
