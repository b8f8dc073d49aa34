// The second half of `npm run build`: makes the `dist` folders that are published. `tsc --build` has checked the sources and written
// their declarations to `build`. The modules of a package become few chunks, and so do its declarations. Names stay as they are.
//
// There are no source maps. With their sources they would make a tarball of 600 kB out of one of 245 (of 490 without the comments), and
// maps without sources leave debuggers with nothing to show. Chunks keep the names and the statements of the sources, so traces can be read.

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';
import { dts } from 'rolldown-plugin-dts';

const packages = fileURLToPath(new URL('../packages/', import.meta.url));

/**
 * A module of its own disappears from a user's bundle when nobody imports it: the packages promise that theirs have no side effects. In a
 * chunk, a bundler drops only what it knows to have none. This says so of constants and classes at the top level.
 */
const droppable = {
  name: 'droppable',
  transform: {
    filter: { id: /\/(idsmith|shard)\/src\/(?!cli|runtime).*\.ts$/ },
    handler(code) {
      let text = code;
      for (const { body, start, end } of valuesOf(parseAst(code, { lang: 'ts' })).reverse())
        text = `${text.slice(0, start)}${body(`/* @__PURE__ */ (() => (${code.slice(start, end)}))()`)}${text.slice(end)}`;
      return { code: text, map: null };
    },
  },
};

/** The constants and classes of a module that are more than plain data, with the text to put in place of each. */
function valuesOf({ body }) {
  return body
    .map((statement) => statement.declaration ?? statement)
    .flatMap((node) => {
      if (node.type === 'VariableDeclaration' && node.kind === 'const')
        return node.declarations
          .filter(({ init }) => acts(init))
          .map(({ init: { start, end } }) => ({ start, end, body: (value) => value }));
      if (node.type !== 'ClassDeclaration' || node.declare || !node.body.body.some(actsInClass)) return [];
      const { start, end, id } = node;
      return [{ start, end, body: (value) => `const ${id.name} = ${value}` }];
    });
}

/** Whether an expression does something, however harmless. The bodies of functions do nothing yet. */
function acts(node) {
  if (node === null || typeof node !== 'object') return false;
  if (/^(Call|New|Binary|Unary|Member|Spread|Tagged|TemplateLiteral)/.test(node.type ?? '')) return true;
  if (/Function|^Class|^TS.*Type|Literal$/.test(node.type ?? '')) return false;
  return Object.values(node).some((part) => (Array.isArray(part) ? part.some(acts) : acts(part)));
}

/** Whether a member of a class does something when the class is made: a computed name, or a static value. */
function actsInClass({ type, computed, static: isStatic, value }) {
  return computed || type === 'StaticBlock' || (isStatic && type === 'PropertyDefinition' && acts(value));
}

/** Keeps calls of `require`, in which the bundlers of users find a package. The bundler here would put a function of its own in place. */
const keptRequire = {
  name: 'kept-require',
  transform: {
    filter: { id: /cipher-node\.ts$/ },
    handler: (code) => ({ code: code.replaceAll(' require(', ' KEPT_REQUIRE('), map: null }),
  },
  renderChunk: (code) => code.replaceAll('KEPT_REQUIRE', 'require'),
};

const FOLDERS = ['idsmith', 'shard', 'oracle', 'verify', 'server', 'fastify', 'nest'];

/** Files that are loaded by their path, beside those that package.json names. */
const BY_PATH = { idsmith: ['cli/main'] };

/**
 * The chunks of idsmith: a room each, and each backend of the stores. The rooms below all others are one. A chunk takes what its modules
 * import along, unless a chunk above it in this list has it. Entries stay apart, and commands are split as they are loaded.
 */
const CHUNKS = {
  // Tables that only some entries need, and that take time to make.
  md5: /^encoding\/md5\.ts$/,
  base62: /^encoding\/base62\.ts$/,
  base: /^((?!threads)[\w-]+|(encoding|support|lineage)\/.*|uuid7\/layout|flake\/(layouts?|decode))\.ts$/,
  ...rooms('lease', 'drivers'),
  // Without what only stores need of it.
  sequence: /^sequence\/(?!(rows|past)\.ts).*\.ts$/,
  // Browsers load this one for the hash ring: it knows no driver.
  redis: /^(redis\/|stores\/redis\/scripts).*\.ts$/,
  ...rooms('uuid7', 'typeid', 'flake', 'locality', 'public', 'inspect'),
  stores: /^(stores\/(?!open)[\w-]+|sequence\/(rows|past))\.ts$/,
  ...backends('memory', 'sql', 'native', 'sqlite', 'postgres', 'mysql'),
  ...backends('redis', 'dynamodb', 'etcd', 'http', 'libsql', 'cloudflare'),
  'open-store': /^stores\/open\.ts$/,
  ...rooms('series', 'connect', 'schema', 'testing'),
};

await Promise.all(FOLDERS.map(bundlePackage));

function rooms(...names) {
  return Object.fromEntries(names.map((name) => [name, new RegExp(`^${name}/.*\\.ts$`)]));
}

function backends(...names) {
  return Object.fromEntries(names.map((name) => [`store-${name}`, new RegExp(`^stores/${name}/.*\\.ts$`)]));
}

/** Entries are in no chunk: they only list what they export. */
function chunksOf(sources) {
  return Object.entries(CHUNKS).map(([name, pattern], i) => ({
    name,
    priority: 100 - i,
    test: (path) => !path.endsWith('index.ts') && pattern.test(relative(sources, path).split(sep).join('/')),
  }));
}

async function bundlePackage(folder) {
  const home = join(packages, folder);
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const code = [...filesOf(manifest, '.js'), ...(BY_PATH[folder] ?? [])];
  const types = filesOf(manifest, '.d.ts');
  const outputs = await Promise.all([
    generate(
      inputsOf(code, join(home, 'src'), '.ts'),
      '.js',
      [droppable, keptRequire],
      folder === 'idsmith' ? chunksOf(join(home, 'src')) : [],
    ),
    generate(inputsOf(types, join(home, 'build'), '.d.ts'), '.d.ts', [
      dts({ dtsInput: true, tsconfig: false }),
    ]),
  ]);
  writeAll(join(home, 'dist'), outputs.flat());
}

/** What package.json names in `dist`, without its ending. */
function filesOf({ exports, imports = {} }, ending) {
  const names = new Set();
  const look = (target) => {
    if (typeof target === 'object') for (const each of Object.values(target)) look(each);
    else if (target.startsWith('./dist/') && target.endsWith(ending))
      names.add(target.slice('./dist/'.length, -ending.length));
  };
  look(exports);
  look(imports);
  return [...names];
}

function inputsOf(names, folder, ending) {
  return Object.fromEntries(names.map((name) => [name, join(folder, `${name}${ending}`)]));
}

async function generate(input, ending, plugins, groups = []) {
  const build = await rolldown({
    input,
    plugins,
    platform: 'neutral',
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
    transform: { target: 'es2022' },
    checks: { bundlerTimings: false, pluginTimings: false },
    onLog(level, log) {
      if (level !== 'debug') throw new Error(`${level} of the bundler: ${log.message}`);
    },
  });
  const { output } = await build.generate({
    format: 'esm',
    // The plugin of declarations adds `.d` itself.
    entryFileNames: ending === '.js' ? '[name].js' : '[name].ts',
    chunkFileNames: `chunks/[name]${ending}`,
    minifyInternalExports: false,
    comments: { jsdoc: ending !== '.js', legal: true, annotation: true },
    codeSplitting: { groups },
  });
  await build.close();
  refuseCycles(output);
  return output;
}

/** Chunks that import each other would run in an order that depends on who comes first. */
function refuseCycles(output) {
  const importsOf = new Map(output.map(({ fileName, imports }) => [fileName, imports]));
  const done = new Set();
  const visit = (file, way) => {
    if (way.includes(file)) throw new Error(`chunks import each other: ${[...way, file].join(' → ')}`);
    if (done.has(file)) return;
    for (const next of importsOf.get(file) ?? []) visit(next, [...way, file]);
    done.add(file);
  };
  for (const file of importsOf.keys()) visit(file, []);
}

/** The libraries of types that declarations ask for, which the bundler leaves out. */
function referencesOf(files) {
  const lines = files.flatMap((file) => readFileSync(file, 'utf8').match(/^\/\/\/ <reference .*$/gm) ?? []);
  return [...new Set(lines)].map((line) => `${line}\n`).join('');
}

/** Writes the files, then removes the others, so that a program that runs meanwhile finds its own. */
function writeAll(folder, output) {
  const made = new Set();
  for (const { fileName, code, moduleIds } of output) {
    const file = join(folder, fileName);
    made.add(file);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, fileName.endsWith('.d.ts') ? referencesOf(moduleIds) + code : code);
  }
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = join(folder, name);
    if (!made.has(file) && statSync(file).isFile()) rmSync(file);
  }
}
