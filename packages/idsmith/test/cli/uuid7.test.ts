import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { repeated } from '../support/unique.ts';
import { idsmith, idsmithIn } from './in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'idsmith-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const store = `sqlite:${join(folder, 'ids.db')}`;
const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('idsmith uuid7', () => {
  it('prints increasing UUIDs of version 7, one a line', async () => {
    const { status, stderr, lines } = await idsmith('uuid7', '-n', '2500');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(lines).toHaveLength(2500);
    expect(repeated(lines)).toEqual([]);
    expect(lines).toEqual(lines.toSorted());
    for (const id of lines) expect(id).toMatch(UUID7);
    expect(Math.abs(Number.parseInt(lines[0]!.replace('-', '').slice(0, 12), 16) - Date.now())).toBeLessThan(
      60_000,
    );
  });

  it('puts a leased node id into the last four digits, and gives it back', async () => {
    const { ids } = JSON.parse((await idsmith('uuid7', '--store', store, '--json')).stdout);
    const { lines, stderr } = await idsmithIn(
      { env: { IDSMITH_STORE: store } },
      'uuid7',
      '-n',
      '2',
      '--verbose',
    );
    expect(stderr).toContain('leased node id 0 of namespace "uuid7"');
    const all = [...ids, ...lines];
    expect(all.map((id) => id.slice(-4))).toEqual(['0000', '0000', '0000']);
    expect(all).toEqual(all.toSorted());
    const { leases } = JSON.parse(
      (await idsmith('leases', '--store', store, '--namespace', 'uuid7', '--json')).stdout,
    );
    expect(leases).toMatchObject([{ id: 0, owner: null, epoch: 2, expiresAt: 0 }]);
  });

  it.each([
    ['-n', '0'],
    ['-n', 'x'],
    ['--namespace', 'orders'],
    ['--namespace', '', '--store', store],
    ['--store', 'nonsense://x'],
    ['--node', '1'],
    ['surplus'],
  ])('of %j exits with 2 and prints no id', async (...args) => {
    const { status, stdout, stderr } = await idsmith('uuid7', ...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^idsmith: /);
  });
});
