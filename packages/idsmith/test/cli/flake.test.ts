import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { layouts } from 'idsmith';
import { afterAll, describe, expect, it } from 'vitest';
import { openStore } from '../../src/stores/open.ts';
import { repeated } from '../support/unique.ts';
import { idsmith } from './in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'idsmith-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const store = `sqlite:${join(folder, 'ids.db')}`;

describe('idsmith flake', () => {
  it('prints increasing ids of a node, one a line', async () => {
    const { status, stderr, lines } = await idsmith('flake', '-n', '2500', '--node', '7');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(lines).toHaveLength(2500);
    expect(repeated(lines)).toEqual([]);
    expect(lines.every((id, i) => i === 0 || BigInt(id) > BigInt(lines[i - 1] as string))).toBe(true);
    expect(layouts.jflake.decode(lines[0] as string).node).toBe(7);
  });

  it('takes another layout, and gives an object with --json', async () => {
    const { ids } = JSON.parse(
      (await idsmith('flake', '-n', '2', '--node', '9', '--layout', 'safe53', '--json')).stdout,
    );
    expect(layouts.safe53.decode(ids[1])).toMatchObject({ node: 9 });
  });

  it('leases a node id from a store, and gives it back', async () => {
    const first = (await idsmith('flake', '--store', store)).lines[0] as string;
    const second = (await idsmith('flake', '--store', store)).lines[0] as string;
    expect([first, second].map((id) => layouts.jflake.decode(id).node)).toEqual([0, 0]);
    expect(BigInt(second)).toBeGreaterThan(BigInt(first));
    const { leases } = JSON.parse(
      (await idsmith('leases', '--store', store, '--namespace', 'jflake', '--json')).stdout,
    );
    expect(leases).toMatchObject([{ id: 0, owner: null, epoch: 2, expiresAt: 0 }]);
  });

  it('leases a node id of a range, which the listing shows', async () => {
    const args = ['--store', store, '--namespace', 'europe'];
    const { lines } = await idsmith('flake', ...args, '--nodes', '256-511');
    expect(layouts.jflake.decode(lines[0] as string).node).toBe(256);
    const refused = await idsmith('flake', ...args);
    expect([refused.status, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('gives out the node ids 256 to 511');
    expect((await idsmith('leases', '--store', store)).stdout).toMatch(/europe +jflake +256: 256-511 /);
  });

  it.each([
    [],
    ['--node', '1', '--nodes', '0-5'],
    ['--store', store, '--nodes', '0-512'],
    ['--store', store, '--nodes', '5-4'],
    ['--store', store, '--nodes', '5'],
    ['--node', '512'],
    ['--node', '-1'],
    ['--node', 'x'],
    ['--node', '1', '--layout', 'nonsense'],
    ['--node', '1', '--store', store],
    ['--store', 'nonsense://x'],
    ['--node', '1', 'surplus'],
  ])('of %j exits with 2 and prints no id', async (...args) => {
    const { status, stdout, stderr } = await idsmith('flake', ...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^idsmith: /);
  });
});

describe('idsmith leases', () => {
  it('shows a table for people', async () => {
    await idsmith('flake', '--store', store, '--namespace', 'shown');
    const { status, lines } = await idsmith('leases', '--store', store, '--namespace', 'shown');
    expect(status).toBe(0);
    expect(lines[0]).toMatch(/^node +state +holder +term +fence$/);
    expect(lines[1]).toMatch(/^0 +free +1 +20\d\d-/);
  });

  it('lists the namespaces of a store', async () => {
    await idsmith('flake', '--store', store, '--namespace', 'listed', '--layout', 'snowflake');
    const { status, lines } = await idsmith('leases', '--store', store);
    expect(status).toBe(0);
    expect(lines[0]).toMatch(/^namespace +layout +node ids +held +expired +ever used$/);
    expect(lines.slice(1)).toContainEqual(expect.stringMatching(/^listed +snowflake +1024 +0 +0 +1$/));
    const { stdout } = await idsmith('leases', '--store', store, '--json');
    expect(JSON.parse(stdout).namespaces).toContainEqual(
      expect.objectContaining({ namespace: 'listed', size: 1024, held: 0, used: 1 }),
    );
  });

  it('says when a namespace has no leases', async () => {
    const { status, lines } = await idsmith('leases', '--store', store, '--namespace', 'mistyped');
    expect([status, lines]).toEqual([0, ['namespace "mistyped" has no leases yet']]);
  });

  it('lists the leases of a namespace that is named without its flag', async () => {
    await idsmith('flake', '--store', store, '--namespace', 'shown');
    const flagged = await idsmith('leases', '--store', store, '--namespace', 'shown', '--json');
    const named = await idsmith('leases', 'shown', '--store', store, '--json');
    const leasesIn = ({ stdout }: { stdout: string }) => JSON.parse(stdout).leases;
    expect(leasesIn(named)).toEqual(leasesIn(flagged));
    expect(leasesIn(named)).toHaveLength(1);
    const both = await idsmith('leases', 'shown', '--store', store, '--namespace', 'other');
    expect(both).toMatchObject({ status: 2, stderr: expect.stringContaining('one namespace: "shown"') });
  });

  it('shows neither the secrets of holders nor the records of the namespace itself', async () => {
    const namespace = 'secrets';
    const until = Date.now() + 60_000;
    const held = { id: 3, owner: 'a secret', epoch: 1, fence: until, expiresAt: until, label: 'web 1' };
    const opened = await openStore(store);
    await opened.swapLease(namespace, undefined, held);
    for (const id of [-1, -2]) await opened.swapLease(namespace, undefined, { ...held, id });
    await opened.close();
    const { stdout } = await idsmith('leases', '--store', store, '--namespace', namespace, '--json');
    const owner = expect.stringMatching(/^sha256:[0-9a-f]{32}$/);
    expect(JSON.parse(stdout).leases).toEqual([{ ...held, owner }]);
    const { lines } = await idsmith('leases', '--store', store, '--namespace', namespace);
    expect(lines.slice(1).map((line) => line.split(' ')[0])).toEqual(['3']);
  });

  it.each([[], ['--store', 'memory:'], ['--namespace', 'x']])('of %j exits with 2', async (...args) => {
    expect((await idsmith('leases', ...args)).status).toBe(2);
  });
});

describe('idsmith inspect', () => {
  it('shows every preset that gives a plausible time, best first', async () => {
    const reading = JSON.parse((await idsmith('inspect', '1703865194431643648', '--json')).stdout);
    expect(reading).toMatchObject({
      family: 'flake',
      layout: 'jflake',
      node: 0,
      iso: '2026-11-15T18:31:58.637Z',
    });
    expect(reading.others.map(({ layout }: { layout: string }) => layout)).toContain('snowflake');
  });
});

describe('idsmith plan', () => {
  it('tells which layouts fit', async () => {
    const { status, stdout } = await idsmith('plan', '--rate', '50000', '--nodes', '200', '--years', '30');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^yes +jflake/m);
    expect(stdout).toMatch(/^no +safe53 .*too few nodes/m);
  });

  it('proposes a layout of your own where none does', async () => {
    const { stdout } = await idsmith('plan', '--rate', '100000', '--nodes', '60000', '--years', '30');
    expect(stdout).toContain('defineLayout({');
  });

  it.each([[], ['--rate', '1'], ['--rate', '0', '--nodes', '1', '--years', '1']])(
    'of %j exits with 2',
    async (...args) => {
      expect((await idsmith('plan', ...args)).status).toBe(2);
    },
  );
});
