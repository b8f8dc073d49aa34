import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makeFolder, removeFolder } from './guard.ts';
import { firstData } from './templates.ts';

const folder = makeFolder('templates-test');
afterAll(() => removeFolder(folder));

/** A kind of server of which this run has no template. */
const kind = `test-${process.pid}`;
let made = 0;

/** Gets the first data of a new server of the kind. */
async function dataOfNext(): Promise<string> {
  const data = join(folder, String(readdirSync(folder).length));
  await firstData(kind, data, async () => {
    made++;
    mkdirSync(join(data, 'deep'), { recursive: true });
    writeFileSync(join(data, 'deep', 'file'), 'first', { mode: 0o600 });
  });
  return join(data, 'deep', 'file');
}

it('makes the first data of a kind once, and gives each server a copy of its own', async () => {
  const first = await dataOfNext();
  writeFileSync(first, 'changed by its server');
  const others = [await dataOfNext(), await dataOfNext()];
  expect(made).toBe(1);
  for (const file of others) {
    expect(readFileSync(file, 'utf8')).toBe('first');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(file, 'changed by its server');
  }
  expect(readFileSync(await dataOfNext(), 'utf8')).toBe('first');
});

it('leaves whole templates only, also when several servers make one at the same time', async () => {
  const race = `${kind}-race`;
  const templates = process.env.IDSMITH_TEST_TEMPLATES as string;
  await Promise.all(
    ['a', 'b', 'c'].map((name) => {
      const data = join(folder, `race-${name}`);
      return firstData(race, data, async () => {
        mkdirSync(data);
        writeFileSync(join(data, 'file'), name);
      });
    }),
  );
  expect(readdirSync(templates).filter((name) => name.startsWith(race))).toEqual([race]);
  expect(existsSync(join(templates, race, 'file'))).toBe(true);
});
