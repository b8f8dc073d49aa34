import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entries, manifest, PackedHome } from './packed-home.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

let home: PackedHome;
beforeAll(() => {
  home = new PackedHome({ scripts: true });
});
afterAll(() => home?.remove());

const runThere = (code: string) => home.run(home.write('program.mjs', code));

/** The number of names of each entry, or the error of loading it. */
type Loaded = Record<string, number | string>;

/** Loads every entry in one process. Modules do not see each other's loading, so each is as good as alone. */
const loadAll = (load: string) => `
  const loaded = {};
  (async () => {
    for (const entry of ${JSON.stringify(entries)})
      try { loaded[entry] = Object.keys(${load}).length; } catch (error) { loaded[entry] = String(error); }
    console.log(JSON.stringify(loaded));
  })();`;

describe('the packed package', () => {
  let imported: Loaded;
  let required: Loaded;
  beforeAll(() => {
    imported = JSON.parse(runThere(loadAll('await import(entry)')));
    required = JSON.parse(home.run(home.write('program.cjs', loadAll('require(entry)'))));
  });

  it.each(entries)('has the entry %s, which loads with no peer installed', (entry) => {
    expect(imported[entry], String(imported[entry])).toBeGreaterThan(0);
  });

  it.each(entries)('has the entry %s, which programs in CommonJS can require', (entry) => {
    expect(required[entry], String(required[entry])).toBeGreaterThan(0);
  });

  it('has a readme whose links and images work where no other file is', () => {
    const readme = readFileSync(join(home.installed, 'README.md'), 'utf8');
    const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1] as string);
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter((link) => !link.startsWith('https://') && !link.startsWith('#'))).toEqual([]);
    const images = [...readme.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map((match) => match[1] as string);
    const version = `https://github.com/idsmith/idsmith/raw/v${manifest.version}/`;
    const missing = images.filter(
      (image) => !image.startsWith(version) || !existsSync(join(root, image.slice(version.length))),
    );
    expect(missing).toEqual([]);
  });

  it('gives each name, types included, in one entry', () => {
    const found = new Map<string, string[]>();
    for (const [entry, { types }] of Object.entries<{ types?: string }>(manifest.exports)) {
      if (types === undefined || entry.startsWith('./internal')) continue;
      const list =
        /export \{([^}]*)\};\s*$/.exec(readFileSync(join(home.installed, types), 'utf8'))?.[1] ?? '';
      for (const [name] of list.matchAll(/\w+(?=\s*(,|$))/g))
        found.set(name, [...(found.get(name) ?? []), entry]);
    }
    expect(found.size).toBeGreaterThan(100);
    const repeated = [...found].filter(([, places]) => places.length > 1);
    // The store to begin with, and the function of every SQL transaction, are at hand in the first entry, too.
    expect(Object.fromEntries(repeated)).toEqual({
      gapless: ['.', './sql'],
      memoryStore: ['.', './stores/memory'],
    });
  });

  it('mints', () => {
    const id = runThere(
      `import { LocalityGenerator } from 'idsmith'; console.log(new LocalityGenerator().next())`,
    );
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-b[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/);
  });

  it.each([
    [
      'idsmith',
      `import { FlakeGenerator, LocalityGenerator, Uuid7Generator } from 'idsmith';
      const made = [new FlakeGenerator({ node: 1 }), new LocalityGenerator(), new Uuid7Generator()];`,
    ],
    [
      'idsmith/connect',
      `import { connect } from 'idsmith/connect';
      import { memoryStore } from 'idsmith/stores/memory';
      const ids = await connect(memoryStore());
      const made = [await ids.flakes('orders')];`,
    ],
  ])('shares generators with threads, without another import than %s', (_, program) => {
    const said = runThere(`${program}
      for (const one of made) {
        const other = one.constructor.attach(one.share());
        console.log(new Set([one.next(), other.next(), one.next(), other.next()]).size);
        await one.close();
      }`);
    expect([...new Set(said.split('\n'))]).toEqual(['4']);
  });

  it('has one class of each error, whichever entry throws it', () => {
    const said = runThere(`
      import { IdError, InvalidIdError, InvalidOptionError, NoSuchSequenceError, StoreError, memoryStore, Sequences } from 'idsmith';
      import { connect } from 'idsmith/connect';
      import { inspect } from 'idsmith/inspect';
      import { publicIds } from 'idsmith/public';
      import { openStore } from 'idsmith/stores';
      import { httpStore } from 'idsmith/stores/http';
      import { typeIds } from 'idsmith/typeid';
      import { uuid7 } from 'idsmith/uuid7';
      import { ShardMap } from '@idsmith/shard';
      import { HashRing } from '@idsmith/shard/ring';
      const attempts = [
        [InvalidOptionError, () => connect('nothing:')],
        [InvalidIdError, () => inspect(5)],
        [InvalidOptionError, () => publicIds({ prefix: 5, keys: {} })],
        [StoreError, () => openStore('postgres://h/x')],
        [StoreError, () => httpStore('http://127.0.0.1:2').listLeases('x')],
        [NoSuchSequenceError, () => new Sequences(memoryStore()).get('absent')],
        [InvalidIdError, () => typeIds('user').parse('x')],
        [InvalidIdError, () => uuid7.timeOf('x')],
        [InvalidOptionError, () => new ShardMap({})],
        [InvalidOptionError, () => new HashRing({ a: -1 })],
      ];
      const others = [];
      for (const [expected, attempt] of attempts)
        try { await attempt(); others.push(String(attempt)); } catch (error) {
          if (!(error instanceof expected && error instanceof IdError)) others.push(attempt + ': ' + error);
        }
      console.log(JSON.stringify(others));
    `);
    expect(JSON.parse(said)).toEqual([]);
  });

  it('names classes and functions in stack traces, as the sources do', () => {
    const stack = runThere(`
      import { FlakeGenerator, InvalidOptionError, Lease, memoryStore, Sequences } from 'idsmith';
      const names = [FlakeGenerator, InvalidOptionError, Lease, Sequences].map(({ name }) => name).join();
      await new Sequences(memoryStore()).define('x', { blockSize: 0 }).catch(({ stack }) => console.log(names + stack));
    `);
    expect(stack).toContain('FlakeGenerator,InvalidOptionError,Lease,Sequences');
    expect(stack).toContain('at requireInteger');
    expect(stack).toContain('Sequences.define');
  });

  it('makes public ids with no peer, and names the package that short ones need', () => {
    const said = runThere(`
      import { publicIds } from 'idsmith/public';
      const keys = { 1: Uint8Array.from({ length: 32 }, (_, i) => i) };
      const orders = publicIds({ prefix: 'ord', keys });
      console.log(orders.decode(orders.encode(5n)));
      try { publicIds({ prefix: 'ord', keys, short: true }); } catch (error) { console.log(error.code, error.message); }
    `);
    expect(said.split('\n')).toEqual([
      '5n',
      'INVALID_OPTION short ids need the package @noble/ciphers, which is not installed: npm install @noble/ciphers',
    ]);
  });

  it('has a command line that starts', () => {
    const bin = join(home.installed, 'bin', 'idsmith.js');
    expect(execFileSync(process.execPath, [bin, '--version'], { encoding: 'utf8' })).toBe(
      `${manifest.version}\n`,
    );
  });

  it('has no runtime dependency, and holds its licence and readme but no tests', () => {
    expect(manifest.dependencies).toBeUndefined();
    const files = readdirSync(home.installed);
    expect(files.sort()).toEqual(['LICENSE', 'README.md', 'bin', 'dist', 'package.json', 'skills']);
  });
});
