// npm run docs: the documentation as a site, in site/dist. The pages are those of docs/ and the README. The reference comes from the
// comments in the code.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brokenLinks } from './broken-links.mjs';
import { choicesOf } from './choices.mjs';
import { inSite, pageOf } from './links.mjs';
import { llms, llmsFull } from './llms.mjs';
import { writeReference } from './reference.mjs';
import { order } from './sidebar.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '..');
const pages = join(here, 'pages');
/** Pages with a table that needs the whole width. */
const WIDE = ['comparison', 'stores'];
const read = (...path) => readFileSync(join(root, ...path), 'utf8');

rmSync(pages, { recursive: true, force: true });
rmSync(join(here, 'dist'), { recursive: true, force: true });
mkdirSync(pages);

/** Writes a page of the site from a file of the project. */
function write(name, text, from) {
  mkdirSync(dirname(join(pages, name)), { recursive: true });
  writeFileSync(join(pages, `${name}.md`), inSite(text, from));
}

// The list of all pages, docs/README.md, is the sidebar here.
for (const file of readdirSync(join(root, 'docs'), { recursive: true }).filter(
  (file) => file.endsWith('.md') && file !== 'README.md',
)) {
  write(pageOf(`docs/${file}`), read('docs', file), `docs/${file}`);
}
cpSync(join(root, 'docs/images'), join(pages, 'images'), { recursive: true });
write('benchmarks', read('bench/README.md'), 'bench/README.md');
cpSync(join(root, 'bench/charts'), join(pages, 'charts'), { recursive: true });
write('index', read('site/home.md'), 'site/home.md');
write('playground', read('site/playground.md'), 'site/playground.md');
write('which-id', withChooser(read('docs/which-id.md')), 'docs/which-id.md');
for (const name of WIDE)
  write(name, `---\naside: false\n---\n\n${read('docs', `${name}.md`)}`, `docs/${name}.md`);
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
writeFileSync(join(here, 'dist/llms-full.txt'), llmsFull(pages, order));
const broken = brokenLinks(join(here, 'dist'), process.env.SITE_BASE ?? '/');
if (broken.length > 0) fail(`links to what is not there:\n  ${broken.join('\n  ')}`);
console.log(`The site is in ${join(here, 'dist')}.`);

/** "Which id?" with the chooser before the table. */
function withChooser(text) {
  const rows = JSON.stringify(choicesOf(text)).replaceAll("'", '&#39;');
  return `---\naside: false\n---\n\n${text.replace(/\n\| /, `\n<IdChooser :rows='${rows}' />\n\n| `)}`;
}

/** The pages, without those of the reference. */
function pageNames() {
  return readdirSync(pages, { recursive: true })
    .filter((file) => file.endsWith('.md') && !file.startsWith('api/'))
    .map((file) => file.slice(0, -'.md'.length));
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
