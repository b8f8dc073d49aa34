import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

// Holds the sources to ARCHITECTURE.md. Its blocks of lines "room → rooms it may import" are named for a folder: the sources of a
// package, whose rooms are listed there, or a room, whose folders are. A file beside the folders counts as one of them, but for
// the four of the library that everybody needs: `base`. The block `packages` has the packages themselves.

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');

/** Files at the top of the library that are one room. */
const BASE = ['errors', 'options', 'clock', 'random'];

const sources = readdirSync(join(root, 'packages'))
  .map((name) => `packages/${name}/src`)
  .filter((source) => existsSync(join(root, source)));

/** The blocks of the page: for each folder, the edges that its rooms may have. */
const listed = new Map(
  [...page.matchAll(/^```edges (\S+)\n([\s\S]*?)^```$/gm)].map(([, folder, block]) => [
    folder as string,
    new Map(
      (block as string)
        .trim()
        .split('\n')
        .map((line) => {
          const [room = '', imports = ''] = line.split('→').map((part) => part.trim());
          return [room, new Set(imports.split(/[\s,]+/).filter((name) => name !== '—'))];
        }),
    ),
  ]),
);

/** The place of a file below a folder, as deep as `levels`: `stores/redis`, or `lease/port` for a file. */
function placeOf(file: string, folder: string, levels: number): string {
  const parts = relative(join(root, folder), file)
    .replace(/\.\w+$/, '')
    .split(sep);
  const isBase = folder === 'packages/idsmith/src' && BASE.includes(parts[0] as string);
  return isBase ? 'base' : parts.slice(0, levels).join('/');
}

/** Every edge between places below a folder, with one import that makes it. */
function edgesIn(folder: string, levels: number): { from: string; to: string; where: string }[] {
  return filesIn(folder).flatMap((file) =>
    importsOf(file)
      .filter((target) => !relative(join(root, folder), target).startsWith('..'))
      .map((target) => ({
        from: placeOf(file, folder, levels),
        to: placeOf(target, folder, levels),
        where: relative(root, file),
      }))
      .filter(({ from, to }) => from !== to),
  );
}

/** Every edge between packages, which import each other by name. */
function edgesBetweenPackages(): { from: string; to: string; where: string }[] {
  return sources.flatMap((source) =>
    filesIn(source).flatMap((file) =>
      [
        ...readFileSync(file, 'utf8').matchAll(
          /(?:from\s|import\(|^import\s)\s*'(?:@idsmith\/([a-z]+)|idsmith)\b/gm,
        ),
      ].map(([, to = 'idsmith']) => ({
        from: source.split('/')[1] as string,
        to,
        where: relative(root, file),
      })),
    ),
  );
}

function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The files of its own package that a file imports, statically or on demand. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8').replaceAll(/'#(runtime|cipher)'/g, `'${runtimeFrom(file)}'`);
  return [...text.matchAll(/(?:from|import\(|import)\s*'(\.{1,2}\/[^']+\.(?:js|ts|tsx))'/g)].map(([, path]) =>
    join(dirname(file), path as string),
  );
}

/** The way to the room that stands for all runtimes: it is imported by names of the package. */
function runtimeFrom(file: string): string {
  const path = relative(dirname(file), join(root, 'packages/idsmith/src/runtime/node.js'));
  return path.startsWith('.') ? path : `./${path}`;
}

/** Places of a cycle, if there is one. */
function cycleIn(edges: Iterable<{ from: string; to: string }>): string[] | undefined {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of edges) next.set(from, (next.get(from) ?? new Set()).add(to));
  const done = new Set<string>();
  const search = (place: string, path: string[]): string[] | undefined => {
    if (path.includes(place)) return [...path.slice(path.indexOf(place)), place];
    if (done.has(place)) return undefined;
    for (const after of next.get(place) ?? []) {
      const cycle = search(after, [...path, place]);
      if (cycle) return cycle;
    }
    done.add(place);
    return undefined;
  };
  for (const place of next.keys()) {
    const cycle = search(place, []);
    if (cycle) return cycle;
  }
  return undefined;
}

describe.each(sources)('%s', (source) => {
  it('has a list of its rooms', () => {
    expect([...listed.keys()]).toContain(source);
  });

  it('has no cycle between rooms', () => {
    expect(cycleIn(edgesIn(source, 1))).toBeUndefined();
  });

  it('has no cycle between the folders and files of rooms', () => {
    expect(cycleIn(edgesIn(source, 2))).toBeUndefined();
  });

  it('imports other packages by name, never by a path into their sources', () => {
    const strays = filesIn(source).flatMap((file) =>
      importsOf(file)
        .filter((target) => relative(join(root, source), target).startsWith('..'))
        .map((target) => `${relative(root, file)} → ${relative(root, target)}`),
    );
    expect(strays).toEqual([]);
  });
});

describe.each([...listed])('The list of %s', (folder, rooms) => {
  const found = folder === 'packages' ? edgesBetweenPackages() : edgesIn(folder, 1);

  it('has every room', () => {
    const all = new Set(found.flatMap(({ from, to }) => [from, to]));
    expect([...rooms.keys()].sort()).toEqual([...all].sort());
  });

  it('has every edge', () => {
    const others = found.filter(({ from, to }) => !rooms.get(from)?.has(to));
    expect(others.map(({ from, to, where }) => `${from} → ${to} in ${where}`)).toEqual([]);
  });

  it('has no edge that is not there', () => {
    const unused = [...rooms].flatMap(([from, imports]) =>
      [...imports]
        .filter((to) => !found.some((edge) => edge.from === from && edge.to === to))
        .map((to) => `${from} → ${to}`),
    );
    expect(unused).toEqual([]);
  });
});

describe('packages', () => {
  it('have the source of every entry under the condition `idsmith-source`', () => {
    const wrong = sources.flatMap((source) => {
      const home = join(root, dirname(source));
      const { exports, imports = {} } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
      return Object.entries({ ...exports, ...imports } as Record<string, string | Record<string, string>>)
        .filter(([, targets]) => typeof targets === 'object' && Object.keys(targets)[0] !== 'idsmith-source')
        .map(([entry]) => `${source} ${entry}`);
    });
    expect(wrong).toEqual([]);
  });
});
