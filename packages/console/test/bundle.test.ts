import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { DIST } from './support/console.ts';

const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.\w+$/.test(name))
  .map((name) => ({ name, bytes: readFileSync(join(DIST, name)) }));
const html = files.find(({ name }) => name === 'index.html')?.bytes.toString() ?? '';

it('is at most 120 kB, gzipped, and its script 90 kB', () => {
  const size = files.reduce((sum, { bytes }) => sum + gzipSync(bytes).length, 0);
  expect(size).toBeLessThanOrEqual(120_000);
  const script = files.filter(({ name }) => name.endsWith('.js'));
  expect(script.reduce((sum, { bytes }) => sum + gzipSync(bytes).length, 0)).toBeLessThanOrEqual(90_000);
});

it('has a hash in the name of every file but the page itself and the licences', () => {
  const names = files.map(({ name }) => name).filter((name) => name.includes('/'));
  const others = files.map(({ name }) => name).filter((name) => !name.includes('/'));
  expect(others.sort()).toEqual(['index.html', 'licenses.md']);
  expect(names.length).toBeGreaterThan(1);
  for (const name of names) expect(name).toMatch(/-[0-9a-f]{12}\.\w+$/);
});

it('has no inline script or style, which the content policy would refuse', () => {
  expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/i);
  for (const [, attributes, body] of html.matchAll(/<script([^>]*)>([^<]*)</g)) {
    expect(attributes).toContain('src=');
    expect(body).toBe('');
  }
});

it('names no other host', () => {
  const hosts = files.flatMap(({ bytes }) => bytes.toString().match(/https?:\/\/[\w.-]+/g) ?? []);
  // The names of XML namespaces, which no browser loads.
  expect(hosts.filter((host) => host !== 'http://www.w3.org')).toEqual([]);
});

it('has the licences of what is bundled', () => {
  const text = files.find(({ name }) => name === 'licenses.md')?.bytes.toString();
  expect(text).toMatch(/preact.*Copyright.*uplot.*Copyright/s);
});

it('takes nothing of Node', () => {
  for (const { name, bytes } of files)
    if (name.endsWith('.js')) expect(bytes.toString()).not.toMatch(/["']node:|\brequire\(/);
});
