// npm run bench [-- locality flake]: the benchmarks named, or all of them, one after another, and then the pages with their figures.

import { spawn } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

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
for (const name of asked.length > 0 ? asked : all) {
  const printed = await run(fileURLToPath(new URL(`${name}.mjs`, folder)));
  writeFileSync(new URL(`results/${name}.txt`, folder), printed);
  console.log();
}
await import('./bench-report.mjs');

/** Runs a benchmark in a process of its own, and returns what it has printed. */
function run(file) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (text) => {
      process.stdout.write(text);
      printed += text;
    });
    child.on('close', (status) => {
      if (status !== 0) process.exit(status ?? 1);
      resolve(printed);
    });
  });
}
