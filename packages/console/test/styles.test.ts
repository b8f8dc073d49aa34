import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SOURCE = fileURLToPath(new URL('../src/', import.meta.url));

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(css|tsx?)$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(SOURCE, path), 'utf8') }));

/** The classes that a stylesheet defines, without those that it names as global. */
function classesOf(css: string): Set<string> {
  const selectors = css.replace(/\/\*.*?\*\//gs, '').replace(/:global\([^)]*\)/g, '');
  const preludes = [...selectors.matchAll(/([^{};]*)\{/g)].map(([, prelude = '']) => prelude);
  return new Set(
    preludes.flatMap((prelude) => prelude.match(/\.[a-zA-Z][\w-]*/g) ?? []).map((name) => name.slice(1)),
  );
}

const components = files.filter(({ path }) => !path.endsWith('.css'));
const modules = files.filter(({ path }) => path.endsWith('.module.css'));
const shared = new Set(
  files.filter(({ path }) => path.startsWith('styles/')).flatMap(({ text }) => [...classesOf(text)]),
);

describe('stylesheets of components', () => {
  it('have names of their own, which the names of their classes begin with', () => {
    const names = modules.map(({ path }) => basename(path));
    expect(names).toEqual([...new Set(names)]);
  });

  it.each(modules)('$path is used from its own folder, every class of it', ({ path, text }) => {
    const users = components.filter((component) => component.text.includes(`/${basename(path)}'`));
    expect(users.map((user) => dirname(user.path))).toEqual(users.map(() => dirname(path)));
    const code = users.map((user) => user.text).join();
    const used = new Set([...code.matchAll(/styles\.(\w+)/g)].map(([, name = '']) => name));
    // In `styles[state]`, the names are those of a type.
    const hasComputedNames = /styles\[/.test(code);
    const unused = [...classesOf(text)].filter((name) => !used.has(name));
    expect([...used].filter((name) => !classesOf(text).has(name))).toEqual([]);
    if (!hasComputedNames) expect(unused).toEqual([]);
  });
});

it('has a shared style for every class that is named as text', () => {
  const named = components.flatMap(({ text }) =>
    [...text.matchAll(/class="([^"]*)"/g)].flatMap(([, names = '']) => names.split(' ')),
  );
  expect(named.length).toBeGreaterThan(20);
  expect([...new Set(named)].filter((name) => !shared.has(name))).toEqual([]);
});
