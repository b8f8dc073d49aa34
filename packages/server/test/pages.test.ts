import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { flagOf, SETTINGS, variableOf } from '../src/config/settings.ts';
import { TestServer } from './support/server.ts';

// The tables of docs/server.md and docs/server-reference.md against the server itself.

const page = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');

/** The cells of the table rows below a heading. */
function rowsOf(text: string, heading: string): string[][] {
  const section = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** The texts of a cell that are set as code. */
const codesOf = (cell: string) => Array.from(cell.matchAll(/`([^`]+)`/g), ([, code]) => code as string);

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.prepare();
});
afterAll(() => server?.stop());

describe('docs/server.md', () => {
  it('has every setting, with its flag, variable and default', () => {
    const rows = rowsOf(page('server.md'), 'Settings').filter(([flag]) => flag?.startsWith('`--'));
    const names = Object.keys(SETTINGS) as (keyof typeof SETTINGS)[];
    expect(rows.map(([flag, variable, name]) => [flag, variable, name])).toEqual(
      names.map((name) => [`\`--${flagOf(name)}\``, `\`${variableOf(name)}\``, `\`${name}\``]),
    );
    const defaults = rows.map(([, , , fallback]) => fallback?.replaceAll('`', '').replaceAll(',', ''));
    names.forEach((name, i) => {
      const { fallback } = SETTINGS[name];
      if (fallback !== '') expect(defaults[i], name).toBe(String(fallback));
    });
  });
});

describe('docs/server-reference.md', () => {
  const reference = page('server-reference.md');

  it('has every route, with the scope that it needs', async () => {
    const { json } = await server.get('/openapi.json');
    type Operation = { security: [{ token: string[] }?] };
    const paths = Object.entries((json as { paths: Record<string, Record<string, Operation>> }).paths);
    const scopeOf = ({ security: [needs] }: Operation) =>
      needs === undefined ? 'none' : needs.token.length === 0 ? 'any' : `\`${needs.token[0]}\``;
    const routes = paths.flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, route]) => `${method.toUpperCase()} ${path} ${scopeOf(route)}`),
    );
    const documented = rowsOf(reference, 'Routes').flatMap(([cell, , scope]) =>
      codesOf(cell as string).map((route) => `${route.replace(/\?.*/, '')} ${scope}`),
    );
    expect(documented.sort()).toEqual(routes.sort());
  });

  it('has every metric', async () => {
    await server.post('/v1/flakes');
    const { text } = await server.get('/metrics');
    const metrics = Array.from(text.matchAll(/^# TYPE (\w+)/gm), ([, name]) => name as string);
    const documented = rowsOf(reference, 'Metrics').flatMap(([cell]) => codesOf(cell as string));
    expect(documented.sort()).toEqual(metrics.sort());
  });
});
