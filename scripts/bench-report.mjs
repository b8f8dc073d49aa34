// Writes bench/README.md, its charts, and the figures in README.md and docs/, all from bench/results. With --check it only says what differs.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chartsOf } from './bench-report/charts.mjs';
import { figures } from './bench-report/figures.mjs';
import { page } from './bench-report/page.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const results = `${root}bench/results`;
const benchmarks = readdirSync(results)
  .filter((file) => file.endsWith('.json'))
  .map((file) => {
    const name = file.slice(0, -'.json'.length);
    const data = JSON.parse(readFileSync(`${results}/${file}`, 'utf8'));
    const text = `${results}/${name}.txt`;
    return {
      name,
      data,
      printed: existsSync(text) ? readFileSync(text, 'utf8') : '',
      charts: chartsOf(name, data),
    };
  });

const written = new Map([['bench/README.md', page(benchmarks)]]);
for (const { charts } of benchmarks) {
  for (const { file, svg } of charts) written.set(`bench/charts/${file}`, svg);
}
const dataOf = Object.fromEntries(benchmarks.map(({ name, data }) => [name, data]));
for (const file of ['README.md', ...readdirSync(`${root}docs`).map((name) => `docs/${name}`)]) {
  if (file.endsWith('.md')) written.set(file, fillIn(file, readFileSync(root + file, 'utf8')));
}

const different = [...written].filter(
  ([file, text]) => !existsSync(root + file) || readFileSync(root + file, 'utf8') !== text,
);
if (process.argv.includes('--check')) {
  if (different.length > 0) {
    console.error(
      `not what bench/results says: ${different.map(([file]) => file).join(', ')}; node scripts/bench-report.mjs writes them`,
    );
    process.exit(1);
  }
} else {
  mkdirSync(`${root}bench/charts`, { recursive: true });
  for (const [file, text] of different) writeFileSync(root + file, text);
  console.log(`written: ${different.map(([file]) => file).join(', ') || 'nothing new'}`);
}

/** Puts figures between the marks `<!-- figures: name -->` and `<!-- end of figures -->`. */
function fillIn(file, text) {
  return text.replace(
    /(<!-- figures: ([\w-]+) -->\n)[\s\S]*?(<!-- end of figures -->)/g,
    (all, start, name, end) => {
      const write = figures[name];
      if (write === undefined)
        throw new Error(
          `${file} asks for the figures "${name}"; there are ${Object.keys(figures).join(', ')}`,
        );
      // Figures of a benchmark that was not run stay as they are.
      return dataOf[name] === undefined ? all : `${start}\n${write(dataOf)}\n\n${end}`;
    },
  );
}
