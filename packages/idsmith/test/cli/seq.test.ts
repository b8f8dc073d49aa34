import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, SHARED_STORES, type StoreServer } from '#services';
import { idsmith } from './in-process.ts';

/** What a person does with a sequence, from the first command to the last. */
function cases(urlOf: () => string): void {
  const seq = (...args: string[]) => idsmith('seq', ...args, '--store', urlOf());

  it('removes nothing unasked', async () => {
    await seq('define', 'kept', '--start', '7');
    const refused = await seq('remove', 'kept');
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('seq remove needs --yes. A sequence that is defined again starts again');
    expect((await seq('next', 'kept')).lines).toEqual(['7']);
    expect((await seq('remove', 'kept', '--yes')).status).toBe(0);
    expect((await seq('remove', 'kept')).status).toBe(1);
  });

  it('leaves the counters of series alone, which have commands of their own', async () => {
    const series = (...args: string[]) => idsmith('series', ...args, '--store', urlOf());
    const name = 'bills';
    const next = () => series('next', name, '--format', 'B-{n:3}', '--tenant', 'a:b');
    expect((await next()).lines).toEqual(['B-001']);
    expect((await seq('list')).stdout).not.toContain('series:');
    for (const counter of [`series:${name}`, `series:${name}:a%3Ab:`])
      for (const args of [['next'], ['show'], ['alter', '--next', '7'], ['remove', '--yes'], ['define']]) {
        const refused = await seq(args[0] as string, counter, ...args.slice(1));
        expect(refused.status).toBe(1);
        expect(refused.stderr).toContain('counts the numbers of a series, and is no sequence');
      }
    expect((await next()).lines).toEqual(['B-002']);
    expect((await series('list')).lines).toContainEqual(expect.stringMatching(/^bills +1$/));
    expect((await series('show', name)).lines[1]).toMatch(/^a:b +3$/);
    expect((await series('show', 'nothing')).stderr).toContain('there is no series "nothing"');
    const alone = await series('next', name, '--format', 'B-{n:3}');
    expect(alone.stderr).toContain('has numbers for each tenant');
  });

  it('defines, draws, shows, lists, alters and removes', async () => {
    expect((await seq('define', 'orders', '--start', '10000', '--block-size', '5')).status).toBe(0);
    expect((await seq('next', 'orders', '-n', '3')).lines).toEqual(['10000', '10001', '10002']);
    // What was not used has been given back.
    expect((await seq('next', 'orders')).lines).toEqual(['10003']);
    expect(JSON.parse((await seq('next', 'orders', '-n', '2', '--json')).stdout)).toEqual({
      ids: ['10004', '10005'],
    });
    const info = {
      name: 'orders',
      start: '10000',
      next: '10006',
      blockSize: 5,
      step: 1,
      min: String(-(2n ** 63n)),
      max: String(2n ** 63n - 1n),
      cycle: false,
      exhausted: false,
    };
    expect(JSON.parse((await seq('show', 'orders', '--json')).stdout)).toEqual(info);
    expect(JSON.parse((await seq('list', '--json')).stdout)).toEqual({ sequences: [info] });
    expect((await seq('list')).lines).toEqual([
      'name    next   block  step  left                 state',
      'orders  10006  5      1     9223372036854765800  open',
    ]);
    expect(
      (await seq('alter', 'orders', '--step', '10', '--next', '20000', '--max', '20010', '--block-size', '1'))
        .status,
    ).toBe(0);
    expect((await seq('next', 'orders', '-n', '2')).lines).toEqual(['20000', '20010']);
    expect((await seq('show', 'orders')).lines[0]).toBe('orders      exhausted');
    expect(await seq('next', 'orders')).toMatchObject({ status: 1, stdout: '' });
    expect(await seq('remove', 'orders', '--yes')).toMatchObject({ status: 0, stdout: '' });
    expect((await seq('list', '--json')).stdout).toBe(`${JSON.stringify({ sequences: [] }, undefined, 2)}\n`);
    expect((await seq('list')).lines).toEqual([
      'there are no sequences: idsmith seq define orders makes one',
    ]);
    expect(await seq('show', 'orders')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: 'idsmith: there is no sequence "orders"; seq list shows all of them\n',
    });
  });
}

describe('idsmith seq on SQLite', () => {
  let folder: string;
  const url = () => `sqlite:${join(folder, 'ids.db')}`;
  const seq = (...args: string[]) => idsmith('seq', ...args, '--store', url());
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'idsmith-seq-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('defines a sequence if it is missing, and refuses another definition', async () => {
    expect((await seq('define', 'invoices', '--if-missing', '--start', '7')).status).toBe(0);
    expect((await seq('define', 'invoices', '--if-missing', '--start', '7')).lines).toContain(
      'next        7',
    );
    const other = await seq('define', 'invoices', '--if-missing', '--start', '8');
    expect(other).toMatchObject({ status: 1, stdout: '' });
    expect(other.stderr).toContain('sequence "invoices" exists with next 7, before start 8');
    expect((await seq('define', 'invoices', '--start', '7')).status).toBe(1);
    expect((await seq('next', 'invoices', '--if-missing')).status).toBe(2);
    expect((await seq('remove', 'invoices', '--yes')).status).toBe(0);
  });

  cases(url);

  it('counts down, below zero, in a cycle', async () => {
    const flags = ['--start', '1', '--step', '-1', '--min', '-1', '--cycle', '--block-size', '3'];
    expect((await seq('define', 'countdown', ...flags)).status).toBe(0);
    expect((await seq('next', 'countdown', '-n', '6')).lines).toEqual(['1', '0', '-1', '1', '0', '-1']);
    expect((await seq('show', 'countdown')).lines[0]).toBe('countdown   in a cycle');
    expect(JSON.parse((await seq('alter', 'countdown', '--no-cycle', '--json')).stdout).cycle).toBe(false);
  });

  it('draws many through a pipe that closes early, and gives the rest back', async () => {
    await seq('define', 'many', '--block-size', '100');
    expect((await seq('next', 'many', '-n', '25000')).lines).toEqual(
      Array.from({ length: 25_000 }, (_, i) => String(i + 1)),
    );
    expect(JSON.parse((await seq('show', 'many', '--json')).stdout).next).toBe('25001');
  });

  it.each([
    [['define', 'x', '--block-size', '0'], '--block-size'],
    [['define', 'x', '--step', '0'], 'step must be a whole number within ±(2^53 − 1) other than 0, not 0'],
    [['define', 'x', '--start', 'ten'], '--start'],
    [['define', 'x', '--start', '9223372036854775808'], 'start'],
    [['define', 'x', '--max', '0'], 'start'],
    [['define', "o'brien"], 'name of a sequence'],
    [['define'], 'seq define needs the name'],
    [['define', 'x', 'y'], 'seq define takes no "y"'],
    [['alter', 'x'], 'needs a flag that changes the sequence'],
    [['alter', 'x', '--cycle', '--no-cycle'], 'takes --cycle or --no-cycle, not both'],
    [['list', 'x'], 'seq list takes no "x"'],
    [['define', 'x', '--next', '5'], 'seq define takes no --next'],
    [['next', 'x', '--start', '5'], 'seq next takes no --start'],
    [['show', 'x', '-n', '5'], 'seq show takes no -n'],
    [['frobnicate', 'x'], 'seq needs one of define'],
    [[], 'seq needs one of define'],
    [['constructor', 'x'], 'seq needs one of define'],
  ])('%j is wrong usage', async (args, message) => {
    const { status, stdout, stderr } = await seq(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('prints what it has drawn when there are no more', async () => {
    await seq('define', 'few', '--max', '30', '--block-size', '10');
    const { status, lines } = await seq('next', 'few', '-n', '31');
    expect(status).toBe(1);
    expect(lines).toEqual(Array.from({ length: 30 }, (_, i) => String(i + 1)));
  });

  it('tells how to reach the last ids when they are less than a block', async () => {
    await seq('define', 'rest', '--max', '3');
    expect((await seq('next', 'rest')).stderr).toContain(
      '3 ids are left, and a block needs 20. A smaller block size',
    );
    await seq('alter', 'rest', '--block-size', '1');
    expect((await seq('next', 'rest', '-n', '3')).lines).toEqual(['1', '2', '3']);
    expect((await seq('next', 'rest')).stderr).toMatch(/0 ids are left, and a block needs 1\n$/);
  });

  it('names the nearest sequence, and the ways on when there is one already', async () => {
    await seq('define', 'tickets');
    expect((await seq('next', 'tikets')).stderr).toContain('no sequence "tikets"; did you mean "tickets"?');
    const { status, stderr } = await seq('define', 'tickets', '--start', '7');
    expect(status).toBe(1);
    expect(stderr).toContain(
      'is defined already: --if-missing accepts the same definition, seq alter changes it',
    );
    expect((await seq('define', 'tickets', '--if-missing')).status).toBe(0);
  });

  it('says what is missing without a store', async () => {
    expect(await idsmith('seq', 'list')).toMatchObject({ status: 2 });
  });

  it('does not define twice', async () => {
    await seq('define', 'once');
    expect(await seq('define', 'once')).toMatchObject({
      status: 1,
      stderr:
        'idsmith: sequence "once" is defined already: --if-missing accepts the same definition, seq alter changes it\n',
    });
  });
});

/** The way from the command to a store that has to be reached. Every start of the command takes its time, so the starts are few. */
function shortCases(urlOf: () => string): void {
  const seq = (...args: string[]) => idsmith('seq', ...args, '--store', urlOf());

  it('defines, draws and removes', async () => {
    expect((await seq('define', 'orders', '--start', '9007199254740993')).status).toBe(0);
    expect((await seq('next', 'orders', '-n', '2')).lines).toEqual(['9007199254740993', '9007199254740994']);
    expect(await seq('remove', 'orders', '--yes')).toMatchObject({ status: 0, stdout: '' });
  });
}

for (const [name, needs, start] of SHARED_STORES.filter(([name]) => name !== 'sqlite')) {
  await describeWith(needs, `idsmith seq on ${name}`, () => {
    let server: StoreServer;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server?.stop());
    shortCases(() => server.url);
  });
}
