import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

// Holds the sources to the edges that ARCHITECTURE.md lists: blocks of lines "room → rooms it may import", one for each
// package. A file at the top of a package is a room of its own, but for the four of the library that everybody needs: `base`.

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');

/** Files at the top of the library that are one room. */
const BASE = ['errors', 'options', 'clock', 'random'];

/** The edges that a package may have, as ARCHITECTURE.md lists them under the name of its source folder. */
function listedEdges(source: string): Map<string, Set<string>> {
  const [, block = ''] = new RegExp(`^\`\`\`edges ${source}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page) ?? [];
  return new Map(
    block
      .trim()
      .split('\n')
      .map((line) => {
        const [room = '', imports = ''] = line.split('→').map((part) => part.trim());
        return [room, new Set(imports.split(/[\s,]+/).filter((name) => name !== '—'))];
      }),
  );
}

/** Every edge between rooms of a package, with one import that makes it. */
function foundEdges(source: string): { from: string; to: string; where: string }[] {
  const folder = join(root, source);
  const roomOf = (file: string) => {
    const [room, ...rest] = relative(folder, file).split(sep);
    if (rest.length > 0) return room as string;
    const name = (room as string).replace(/\.\w+$/, '');
    return BASE.includes(name) ? 'base' : name;
  };
  return filesIn(folder).flatMap((file) =>
    importsOf(file)
      .map((target) => ({ from: roomOf(file), to: roomOf(target), where: relative(root, file) }))
      .filter(({ from, to }) => from !== to),
  );
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
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

/** Rooms of a cycle, if there is one. */
function cycleIn(edges: Map<string, Set<string>>): string[] | undefined {
  const done = new Set<string>();
  const search = (room: string, path: string[]): string[] | undefined => {
    if (path.includes(room)) return [...path.slice(path.indexOf(room)), room];
    if (done.has(room)) return undefined;
    for (const next of edges.get(room) ?? []) {
      const cycle = search(next, [...path, room]);
      if (cycle) return cycle;
    }
    done.add(room);
    return undefined;
  };
  for (const room of edges.keys()) {
    const cycle = search(room, []);
    if (cycle) return cycle;
  }
  return undefined;
}

describe.each(['packages/idsmith/src', 'packages/server/src', 'packages/console/src'])('%s', (source) => {
  const listed = listedEdges(source);
  const found = foundEdges(source);

  it('has a list of its rooms', () => {
    const rooms = new Set(found.flatMap(({ from, to }) => [from, to]));
    expect([...listed.keys()].sort()).toEqual([...rooms].sort());
  });

  it('imports along the edges that are listed, and no others', () => {
    const others = found.filter(({ from, to }) => !listed.get(from)?.has(to));
    expect(others.map(({ from, to, where }) => `${from} → ${to} in ${where}`)).toEqual([]);
  });

  it('has every edge that is listed', () => {
    const unused = [...listed].flatMap(([from, rooms]) =>
      [...rooms]
        .filter((to) => !found.some((edge) => edge.from === from && edge.to === to))
        .map((to) => `${from} → ${to}`),
    );
    expect(unused).toEqual([]);
  });

  it('has no cycle between rooms', () => {
    expect(cycleIn(listed)).toBeUndefined();
  });
});

describe('packages', () => {
  it('import each other by name, never by a path into the sources', () => {
    const folders = ['packages/idsmith/src', 'packages/server/src', 'packages/console/src'];
    const strays = folders.flatMap((source) =>
      filesIn(join(root, source)).flatMap((file) =>
        importsOf(file)
          .filter((target) => relative(join(root, source), target).startsWith('..'))
          .map((target) => `${relative(root, file)} → ${relative(root, target)}`),
      ),
    );
    expect(strays).toEqual([]);
  });
});
