import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalityUuid } from 'idsmith';
import { afterAll, describe, expect, it } from 'vitest';
import { repeated } from '../support/unique.ts';
import { idsmith } from './in-process.ts';
import { bin, idsmithIn as spawned } from './run.ts';

const KNOWN = '20be0ffc-314a-bd53-7a50-013a65ca76d2';

describe('idsmith locality', () => {
  it('prints one id a line and nothing else', async () => {
    const { status, stderr, lines } = await idsmith('locality', '-n', '5');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(lines).toHaveLength(5);
    expect(lines.every(LocalityUuid.isValid)).toBe(true);
    expect(repeated(lines)).toEqual([]);
  });

  it('prints one id when no count is given', async () => {
    expect((await idsmith('locality')).lines).toHaveLength(1);
  });

  it('counts up with --sequential', async () => {
    const { lines } = await idsmith('locality', '-n', '2000', '--sequential');
    const counters = lines.map((line) => Number.parseInt(line.slice(0, 8), 16));
    counters.reduce((last, counter) => {
      expect(counter).toBe((last + 1) % 2 ** 32);
      return counter;
    });
  });

  it('prints an object with --json, and standard UUIDs with --rfc9562', async () => {
    const { ids } = JSON.parse((await idsmith('locality', '-n', '3', '--rfc9562', '--json')).stdout);
    expect(ids).toHaveLength(3);
    for (const id of ids) expect(LocalityUuid.parse(id).version).toBe('8');
  });

  it('says on standard error which node it has, with --verbose', async () => {
    const { status, stderr, lines } = await idsmith('locality', '--verbose', '-n', '2');
    expect(status).toBe(0);
    expect(lines.every(LocalityUuid.isValid)).toBe(true);
    const [, source, processId] =
      /^node: (random|machine), process id (\d+), MAC (\S{2}:){5}\S{2}/.exec(stderr) ?? [];
    expect(Number(processId)).toBe(LocalityUuid.parse(lines[0] as string).processId);
    // Where it is not the machine's own, it says why.
    expect(stderr).toMatch(source === 'random' ? /\(not the machine's own: .+\)\n$/ : /\n$/);
    expect((await idsmith('locality', '--verbose', '--random')).stderr).toMatch(/^node: random, [^(]*\n$/);
  });

  it('takes one node only', async () => {
    expect((await idsmith('locality', '--machine', '--random')).status).toBe(2);
  });

  it('ends quietly when the reader of a million ids goes away', async () => {
    const child = spawn('sh', ['-c', `"$0" "$1" locality -n 1000000 | head -1; wait`, process.execPath, bin]);
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code).toBe(0);
    expect(err).toBe('');
    expect(LocalityUuid.isValid(out.trim())).toBe(true);
  });

  it('itself exits with 0 when its reader goes away', async () => {
    const child = spawn(process.execPath, [bin, 'locality', '-n', '1000000000']);
    child.stdout.once('data', () => child.stdout.destroy());
    let err = '';
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });

  it('exits with 0 when nobody reads what it tells with --verbose, either', async () => {
    const child = spawn(process.execPath, [bin, 'locality', '-n', '2', '--verbose']);
    child.stderr.destroy();
    child.stdout.resume();
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
  });
});

describe('idsmith inspect', () => {
  it('shows the fields of a locality UUID', async () => {
    const { status, lines } = await idsmith('inspect', KNOWN);
    expect(status).toBe(0);
    expect(Object.fromEntries(lines.map((line) => [line.slice(0, 16).trim(), line.slice(16)]))).toEqual({
      family: 'locality',
      reason: 'a UUID of version b',
      version: 'b',
      counter: '20be0ffc',
      'if sequential': '549326844',
      'if variable': '3488672514',
      'process id': '12618',
      'MAC fragment': '__:__:_d:53:7a:50',
      timestamp: '1350327498450',
      utc: '2012-10-15 18:58:18.450 UTC',
      iso: '2012-10-15T18:58:18.450Z',
    });
  });

  it('gives the same as JSON', async () => {
    expect(JSON.parse((await idsmith('inspect', KNOWN.toUpperCase(), '--json')).stdout)).toEqual({
      id: KNOWN.toUpperCase(),
      family: 'locality',
      reason: 'a UUID of version b',
      version: 'b',
      counter: '20be0ffc',
      sequentialCounter: 549326844,
      variableCounter: 3488672514,
      processId: 12618,
      macFragment: '__:__:_d:53:7a:50',
      timestamp: 1350327498450,
      utc: '2012-10-15 18:58:18.450 UTC',
      iso: '2012-10-15T18:58:18.450Z',
    });
  });

  it('shows the fields of a sharded key, minted or special', async () => {
    const fieldsOf = async (id: string) => JSON.parse((await idsmith('inspect', id, '--json')).stdout);
    expect(await fieldsOf('1jyVFw3401')).toMatchObject({
      family: 'key',
      variant: 190,
      type: 1,
      timestamp: 1327000287784,
    });
    expect(await fieldsOf('020000-emails')).toMatchObject({ family: 'key', type: 0, suffix: 'emails' });
  });

  it('reads what idsmith locality prints, both formats', async () => {
    for (const flag of ['--random', '--rfc9562']) {
      const id = (await idsmith('locality', flag)).lines[0] as string;
      const reading = JSON.parse((await idsmith('inspect', id, '--json')).stdout);
      expect(reading.family).toBe('locality');
      expect(Math.abs(reading.timestamp - Date.now())).toBeLessThan(60_000);
    }
  });

  it('does not take the variant of version 8 for part of the MAC address', async () => {
    const reading = JSON.parse(
      (await idsmith('inspect', '20be0ffc-314a-8d53-ba50-013a65ca76d2', '--json')).stdout,
    );
    expect(reading).toMatchObject({
      family: 'locality',
      format: 'rfc9562',
      macFragment: '__:__:_d:53:_a:50',
    });
  });

  it.each(['20be0ffc-314a-8d53-0a50-013a65ca76d2', '20be0ffc-314a-8d53-ba50-f13a65ca76d2'])(
    'does not take %s, of a foreign version 8, for one of ours',
    async (id) => {
      expect(JSON.parse((await idsmith('inspect', id, '--json')).stdout).family).toBe('uuid');
    },
  );

  it('shows another UUID as just that', async () => {
    const reading = JSON.parse(
      (await idsmith('inspect', 'f47ac10b-58cc-4372-a567-0e02b2c3d479', '--json')).stdout,
    );
    const id = 'f47ac10b-58cc-4372-a567-0e02b2c3d479';
    expect(reading).toEqual({ id, family: 'uuid', reason: 'version 4: random', version: '4' });
  });
});

describe('wrong usage', () => {
  it.each([
    [],
    ['nonsense'],
    ['locality', '--nonsense'],
    ['locality', '5'],
    ['locality', '-n'],
    ['locality', '-n', '0'],
    ['locality', '-n', '-5'],
    ['locality', '-n', 'five'],
    ['locality', '-n', '1.5'],
    ['locality', '-n', '99999999999999999999'],
    ['inspect'],
    ['inspect', 'nonsense'],
    ['inspect', ''],
  ])('of %j exits with 2, a message on standard error and nothing on standard output', async (...args) => {
    const { status, stdout, stderr } = await idsmith(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).not.toBe('');
    expect(stderr).not.toContain('    at ');
  });
});

describe('help', () => {
  it('names every command, with an example', async () => {
    const { status, stdout } = await idsmith('--help');
    expect(status).toBe(0);
    for (const word of ['locality', 'flake', 'seq', 'key', 'inspect', 'leases', 'plan', 'Example'])
      expect(stdout).toContain(word);
  });

  it.each(['locality', 'flake', 'inspect', 'plan'])('of %s has an example that works', async (command) => {
    const { status, stdout } = await idsmith(command, '--help');
    expect(status).toBe(0);
    const example = /Example: idsmith (.*)/.exec(stdout)?.[1] as string;
    expect((await idsmith(...example.split(' '))).status).toBe(0);
  });

  it('knows its version', async () => {
    expect((await idsmith('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await idsmith('version')).toEqual(await idsmith('--version'));
  });
});

// The other tests run commands in their own process. These hold the program itself: arguments, streams, variables, exit codes.
describe('The program', () => {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-program-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const env = { IDSMITH_STORE: `sqlite:${join(folder, 'ids.db')}` };
  const keys = join(folder, 'keys.txt');
  writeFileSync(keys, '2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94', { mode: 0o600 });

  it.each<[args: string[], input: string, output: RegExp]>([
    [['locality', '-n', '2'], '', /^(\S{36}\n){2}$/],
    [['flake', '-n', '2'], '', /^(\d+\n){2}$/],
    [['uuid7', '-n', '2'], '', /^(\S{36}\n){2}$/],
    [['seq', 'define', 'orders', '--start', '7'], '', /^next +7$/m],
    [['seq', 'next', 'orders', '-n', '2'], '', /^7\n8\n$/],
    [['leases', '--namespace', 'jflake'], '', /^0 +free/m],
    [['inspect'], `${KNOWN}\n`, /^family +locality$/m],
    [['check'], '1\n2\n', /^repeats +none$/m],
    [['plan', '--rate', '50', '--nodes', '20', '--years', '30'], '', /^yes +jflake/m],
    [['public', 'encode', '--prefix', 'ord', '--key-file', keys], '5\n', /^ord_\S+\n$/],
    [['help', 'verify'], '', /^Usage: idsmith verify/m],
    [['help', 'serve'], '', /^Usage: idsmith serve/m],
  ])('runs %j', (args, input, output) => {
    const { status, stdout, stderr } = spawned({ env, input }, ...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(output);
  });

  it.each<[number, string[]]>([
    [1, ['seq', 'show', 'nope']],
    [2, ['seq', 'shw']],
    [2, []],
  ])('exits with %i for %j, and has nothing on standard output', (code, args) => {
    const { status, stdout, stderr } = spawned({ env }, ...args);
    expect({ status, stdout }).toEqual({ status: code, stdout: '' });
    expect(stderr).not.toBe('');
  });
});
