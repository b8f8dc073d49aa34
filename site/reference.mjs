// The reference, from the comments in the code: a page for each entry, and one that lists the names by task.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Application, ReflectionKind } from 'typedoc';
import { tasks } from './tasks.mjs';

/** Entries for the other packages of the project. */
const PRIVATE = /^\.\/(internal|cli)/;

export async function writeReference(root, out) {
  const packages = join(root, 'packages');
  const entries = ['idsmith', 'shard', 'oracle'].flatMap((name) => entriesOf(packages, name));
  const app = await Application.bootstrapWithPlugins({
    entryPoints: entries.map(({ file }) => file),
    tsconfig: join(root, 'site/tsconfig.json'),
    // The code is checked by the compiler of the project, which is newer than this one.
    skipErrorChecking: true,
    plugin: ['typedoc-plugin-markdown'],
    readme: 'none',
    excludeInternal: true,
    excludePrivate: true,
    disableSources: true,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    outputFileStrategy: 'modules',
    entryFileName: 'modules',
    // Anchors that stay right where a method and a type share a name.
    useHTMLAnchors: true,
    outputs: [{ name: 'markdown', path: out }],
    basePath: packages,
    logLevel: 'Warn',
    validation: { notExported: false, invalidLink: true, notDocumented: false },
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('the reference could not be read from the code');
  // A module is called as its page, and then as programs import it.
  for (const module of project.children) {
    const entry = entries.find(
      ({ file }) => file.replace(/(\/index)?\.ts$/, '') === join(packages, module.name),
    );
    if (entry === undefined) throw new Error(`no entry has the module ${module.name}`);
    module.name = pageOf(entry.name);
  }
  mkdirSync(out, { recursive: true });
  await app.generateOutputs(project);
  for (const { name } of entries) {
    const file = join(out, `${pageOf(name)}.md`);
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^# .*$/m, `# ${name}`));
  }
  rmSync(join(out, 'modules.md'));
  for (const module of project.children)
    module.name = entries.find(({ name }) => pageOf(name) === module.name).name;
  writeFileSync(join(out, 'index.md'), byTask(project));
}

/** The page of an entry. Its name has no folders: `/api/idsmith` beside `/api/idsmith/` would be two answers to one address. */
const pageOf = (entry) => entry.replace('@', '').replaceAll('/', '-');

function entriesOf(packages, name) {
  const manifest = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'));
  return Object.entries(manifest.exports)
    .filter(([entry, { 'idsmith-source': source }]) => source !== undefined && !PRIVATE.test(entry))
    .map(([entry, { 'idsmith-source': source }]) => ({
      name: manifest.name + entry.slice(1),
      file: join(packages, name, source),
    }));
}

/** Kinds of what a program can call or construct. Types are on the pages of their entries. */
const VALUES = [ReflectionKind.Class, ReflectionKind.Function, ReflectionKind.Variable];

const TABLE_HEAD = '| name | from | |\n|---|---|---|';

function byTask(project) {
  const names = new Map();
  for (const module of project.children)
    for (const child of module.children ?? [])
      if (VALUES.includes(child.kind) && !names.has(child.name)) names.set(child.name, { module, child });
  const listed = tasks.flatMap((task) => task.names);
  const missing = listed.filter((name) => !names.has(name));
  if (missing.length > 0) console.warn(`site/tasks.mjs: there is no ${missing.join(', ')}`);
  const others = [...names.keys()].filter((name) => !listed.includes(name));
  const row = (name) => {
    const { module, child } = names.get(name);
    return `| [\`${name}\`](./${pageOf(module.name)}.md#${name.toLowerCase()}) | \`${module.name}\` | ${sentenceOf(child)} |`;
  };
  const section = ({ title, page, about, names: all }) =>
    `## ${title}\n\n${about} [More](${page}).\n\n${TABLE_HEAD}\n${all
      .filter((name) => names.has(name))
      .map(row)
      .join('\n')}`;
  const entries = project.children.map(({ name }) => `- [\`${name}\`](./${pageOf(name)}.md)`);
  return `# API reference

Every class, function and value, by what you want to do. The pages of the entries also have the types of options and results.

${tasks.map(section).join('\n\n')}
${others.length === 0 ? '' : `\n## Other names\n\n${TABLE_HEAD}\n${others.map(row).join('\n')}\n`}
## By entry

${entries.join('\n')}
`;
}

/** The first sentence of a comment. */
function sentenceOf(child) {
  const parts = (child.comment ?? child.signatures?.[0]?.comment)?.summary ?? [];
  const text = parts
    .map(({ text: each }) => each)
    .join('')
    .replace(/\s+/g, ' ');
  return text.split(/(?<=\.) /)[0].replaceAll('|', '\\|');
}
