// npm run docs: the documentation as a site, in site/dist. The pages are those of docs/ and the README. The reference comes from the
// comments in the code.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inSite, pageOf } from './links.mjs';
import { llms } from './llms.mjs';
import { writeReference } from './reference.mjs';
import { order } from './sidebar.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '..');
const pages = join(here, 'pages');
const read = (...path) => readFileSync(join(root, ...path), 'utf8');

rmSync(pages, { recursive: true, force: true });
rmSync(join(here, 'dist'), { recursive: true, force: true });
mkdirSync(pages);

/** Writes a page of the site from a file of the project. */
function write(name, text, from) {
  mkdirSync(dirname(join(pages, name)), { recursive: true });
  writeFileSync(join(pages, `${name}.md`), inSite(text, from));
}

for (const file of readdirSync(join(root, 'docs'), { recursive: true }).filter((file) =>
  file.endsWith('.md'),
)) {
  write(pageOf(`docs/${file}`), read('docs', file), `docs/${file}`);
}
cpSync(join(root, 'docs/images'), join(pages, 'images'), { recursive: true });
write('benchmarks', read('bench/README.md'), 'bench/README.md');
cpSync(join(root, 'bench/charts'), join(pages, 'charts'), { recursive: true });
const readme = read('README.md');
write('index', readme, 'README.md');
write('which-id', section(readme, 'Which id should I use?'), 'README.md');
write('changelog', read('CHANGELOG.md'), 'CHANGELOG.md');
await writeReference(root, join(pages, 'api'));

const listed = new Set(order.map(({ name }) => (name === '' ? 'index' : name)));
const unlisted = pageNames().filter((name) => !listed.has(name));
if (unlisted.length > 0) fail(`${unlisted.join(', ')} is not in site/sidebar.mjs`);

const built = spawnSync(
  process.execPath,
  [join(here, 'node_modules/vitepress/bin/vitepress.js'), 'build', here],
  {
    stdio: 'inherit',
  },
);
if (built.status !== 0) fail('the site was not built');
writeFileSync(join(here, 'dist/llms.txt'), llms(pages, order));
checkAnchors();

/** A section of a page as a page of its own. */
function section(text, title) {
  const start = text.indexOf(`## ${title}`);
  const end = text.indexOf('\n## ', start + 1);
  return text.slice(start + 1, end);
}

/** The pages, without those of the reference. */
function pageNames() {
  return readdirSync(pages, { recursive: true })
    .filter((file) => file.endsWith('.md') && !file.startsWith('api/'))
    .map((file) => file.slice(0, -'.md'.length));
}

/** VitePress checks pages; the places within a page are checked here. */
function checkAnchors() {
  const ids = new Map();
  const idsOf = (file) => {
    if (!ids.has(file)) {
      const html = existsSync(file) ? readFileSync(file, 'utf8') : '';
      ids.set(file, new Set([...html.matchAll(/ id="([^"]+)"/g)].map((match) => match[1])));
    }
    return ids.get(file);
  };
  const broken = [];
  for (const page of pageNames()) {
    const html = readFileSync(join(here, 'dist', `${page}.html`), 'utf8');
    for (const [, path, anchor] of html.matchAll(/href="(\/[\w/-]*)?#([^"]+)"/g)) {
      const target = path === undefined ? page : path === '/' ? 'index' : path.slice(1);
      if (!idsOf(join(here, 'dist', `${target}.html`)).has(decodeURIComponent(anchor))) {
        broken.push(`${page}: ${target}#${anchor}`);
      }
    }
  }
  if (broken.length > 0) fail(`links to places that are not there:\n  ${broken.join('\n  ')}`);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
