import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { UserFolder } from './user-folder.ts';

const page = readFileSync(new URL('../../docs/recipes.md', import.meta.url), 'utf8');

/** The block of code on the page that begins with this comment. */
function recipe(comment: string): string {
  const block = [...page.matchAll(/```\w+\n([\s\S]*?)```/g)].map(([, code]) => code as string);
  const found = block.find((code) => code.startsWith(comment));
  if (found === undefined) throw new Error(`docs/recipes.md has no code that begins with ${comment}`);
  return found;
}

/** What a user's test does with the package: every entry that does not need a driver. */
const BODY = `
test('idsmith works', async () => {
  expect(uuid7()).toMatch(/^[\\da-f]{8}-[\\da-f]{4}-7/);
  expect(typeIds('user').next()).toMatch(/^user_/);
  expect(typeof new FlakeGenerator({ node: 1 }).next()).toBe('bigint');
  expect(inspect(uuid7())[0]?.family).toBe('uuid');
  expect(uuid7Schema()['~standard'].vendor).toBe('idsmith');
  const keys = { 1: '2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94' };
  for (const short of [false, true]) {
    const orders = publicIds({ prefix: 'ord', keys, short });
    expect(orders.decode(orders.encode(5n))).toBe(5n);
  }
  const ids = await connect('memory:');
  expect(typeof (await ids.flakes('orders', { as: 'string' })).next()).toBe('string');
  expect(await (await ids.locality('events')).next()).toHaveLength(36);
  expect(await (await ids.uuid7('events')).next()).toHaveLength(36);
  expect(await (await ids.sequence('invoices', { define: { start: 7 } })).next()).toBe(7n);
  const printed = await ids.series('printed', { format: 'INV-{n:6}' });
  expect(await printed.next()).toBe('INV-000001');
  await ids.close();
});`;

const NAMES = {
  idsmith: 'FlakeGenerator',
  'idsmith/connect': 'connect',
  'idsmith/inspect': 'inspect',
  'idsmith/public': 'publicIds',
  'idsmith/schema': 'uuid7Schema',
  'idsmith/typeid': 'typeIds',
  'idsmith/uuid7': 'uuid7',
};
const imports = Object.entries(NAMES).map(([entry, name]) => `import { ${name} } from '${entry}';`);
const requires = Object.entries(NAMES).map(([entry, name]) => `const { ${name} } = require('${entry}');`);

/** Runs Jest in a project of these files. */
function jest(files: Record<string, string>, env: Record<string, string> = {}) {
  const folder = new UserFolder(files);
  try {
    return folder.run('jest/bin/jest.js', ['--ci', '--no-cache'], env);
  } finally {
    folder.remove();
  }
}

const passes = { status: 0, said: expect.stringContaining('1 passed') };

describe('Jest, by the recipes of docs/recipes.md', () => {
  it.each([
    ['import', imports],
    ['require', requires],
  ])('loads the package with Babel, where tests %s it', (_how, lines) => {
    const config = recipe('// jest.config.cjs, with Babel');
    expect(jest({ 'jest.config.cjs': config, 'ids.test.js': lines.join('\n') + BODY })).toEqual(passes);
  });

  it('loads the package with ts-jest', () => {
    const config = recipe('// jest.config.cjs, with ts-jest');
    const text = ["import { expect, test } from '@jest/globals';", ...imports].join('\n') + BODY;
    expect(jest({ 'jest.config.cjs': config, 'ids.test.ts': text })).toEqual(passes);
  });

  it('loads the package as ESM', () => {
    const [line] = /NODE_OPTIONS=\S+/.exec(recipe('NODE_OPTIONS')) ?? [''];
    const [name = '', value = ''] = line.split(/=(.*)/);
    const files = {
      'package.json': '{ "type": "module" }',
      'jest.config.cjs': 'module.exports = { transform: {} };',
      // Jest cannot load @noble/ciphers for short ids in this way before Node 24.9.
      'ids.test.js': imports.join('\n') + BODY.replace('[false, true]', '[false]'),
    };
    expect(jest(files, { [name]: value })).toEqual(passes);
  });
});
