import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

// The long runs load sources by themselves, without the tools of the tests. Wrong input is the shortest way through all that they load.

it.each([
  ['chaos', '--store', 'nope'],
  ['soak', '--minutes', 'x'],
  ['reshard', '--to', 'nope'],
  ['simulate', '--seeds', 'x'],
])('npm run lab -- %s loads what it needs, and says how it is used', (name, ...options) => {
  const script = fileURLToPath(new URL(`../scripts/${name}.mjs`, import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [script, ...options], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(/^usage: /) });
});

it('npm run lab -- simulate runs worlds of every kind', () => {
  const script = fileURLToPath(new URL('../scripts/simulate.mjs', import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, [script, '--seeds', '8'], { encoding: 'utf8' });
  expect(stdout.match(/"failures": 0,/g)).toHaveLength(4);
  expect(status).toBe(0);
});
