import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, STORE_SERVERS, type StoreServer } from '#services';
import { idsmith } from './run.ts';

/** What a person does with a sequence, from the first command to the last. */
function cases(urlOf: () => string): void {
  const seq = (...args: string[]) => idsmith('seq', ...args, '--store', urlOf());

  it('defines, draws, shows, lists, alters and removes', () => {
    expect(seq('define', 'orders', '--start', '10000', '--block-size', '5').status).toBe(0);
    expect(seq('next', 'orders', '-n', '3').lines).toEqual(['10000', '10001', '10002']);
    // What was not used has been given back.
    expect(seq('next', 'orders').lines).toEqual(['10003']);
    expect(JSON.parse(seq('next', 'orders', '-n', '2', '--json').stdout)).toEqual({
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
    expect(JSON.parse(seq('show', 'orders', '--json').stdout)).toEqual(info);
    expect(JSON.parse(seq('list', '--json').stdout)).toEqual({ sequences: [info] });
    expect(seq('list').lines).toEqual([
      'name    next   block  step  range                                       state',
      'orders  10006  5      1     -9223372036854775808 … 9223372036854775807  open',
    ]);
    expect(
      seq('alter', 'orders', '--step', '10', '--next', '20000', '--max', '20010', '--block-size', '1').status,
    ).toBe(0);
    expect(seq('next', 'orders', '-n', '2').lines).toEqual(['20000', '20010']);
    expect(seq('show', 'orders').lines[0]).toBe('orders      exhausted');
    expect(seq('next', 'orders')).toMatchObject({ status: 1, stdout: '' });
    expect(seq('remove', 'orders')).toMatchObject({ status: 0, stdout: '' });
    expect(seq('list', '--json').stdout).toBe(`${JSON.stringify({ sequences: [] }, undefined, 2)}\n`);
    expect(seq('list').lines).toEqual(['there are no sequences: idsmith seq define orders makes one']);
    expect(seq('show', 'orders')).toMatchObject({
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

  it('defines a sequence if it is missing, and refuses another definition', () => {
    expect(seq('define', 'invoices', '--if-missing', '--start', '7').status).toBe(0);
    expect(seq('define', 'invoices', '--if-missing', '--start', '7').lines).toContain('next        7');
    const other = seq('define', 'invoices', '--if-missing', '--start', '8');
    expect(other).toMatchObject({ status: 1, stdout: '' });
    expect(other.stderr).toContain('{ start: 7, blockSize: 20,');
    expect(seq('define', 'invoices', '--start', '7').status).toBe(1);
    expect(seq('next', 'invoices', '--if-missing').status).toBe(2);
    expect(seq('remove', 'invoices').status).toBe(0);
  });

  cases(url);

  it('counts down, below zero, in a cycle', () => {
    const flags = ['--start', '1', '--step', '-1', '--min', '-1', '--cycle', '--block-size', '3'];
    expect(seq('define', 'countdown', ...flags).status).toBe(0);
    expect(seq('next', 'countdown', '-n', '6').lines).toEqual(['1', '0', '-1', '1', '0', '-1']);
    expect(seq('show', 'countdown').lines[0]).toBe('countdown   in a cycle');
    expect(JSON.parse(seq('alter', 'countdown', '--no-cycle', '--json').stdout).cycle).toBe(false);
  });

  it('draws many through a pipe that closes early, and gives the rest back', () => {
    seq('define', 'many', '--block-size', '100');
    expect(seq('next', 'many', '-n', '25000').lines).toEqual(
      Array.from({ length: 25_000 }, (_, i) => String(i + 1)),
    );
    expect(JSON.parse(seq('show', 'many', '--json').stdout).next).toBe('25001');
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
  ])('%j is wrong usage', (args, message) => {
    const { status, stdout, stderr } = seq(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('prints what it has drawn when there are no more', () => {
    seq('define', 'few', '--max', '30', '--block-size', '10');
    const { status, lines } = seq('next', 'few', '-n', '31');
    expect(status).toBe(1);
    expect(lines).toEqual(Array.from({ length: 30 }, (_, i) => String(i + 1)));
  });

  it('tells how to reach the last ids when they are less than a block', () => {
    seq('define', 'rest', '--max', '3');
    expect(seq('next', 'rest').stderr).toContain(
      '3 ids are left, and a block needs 20. A smaller block size',
    );
    seq('alter', 'rest', '--block-size', '1');
    expect(seq('next', 'rest', '-n', '3').lines).toEqual(['1', '2', '3']);
    expect(seq('next', 'rest').stderr).toMatch(/0 ids are left, and a block needs 1\n$/);
  });

  it('names the nearest sequence, and the ways on when there is one already', () => {
    seq('define', 'tickets');
    expect(seq('next', 'tikets').stderr).toContain('no sequence "tikets"; did you mean "tickets"?');
    const { status, stderr } = seq('define', 'tickets', '--start', '7');
    expect(status).toBe(1);
    expect(stderr).toContain(
      'is defined already: --if-missing accepts the same definition, seq alter changes it',
    );
    expect(seq('define', 'tickets', '--if-missing').status).toBe(0);
  });

  it('says what is missing without a store', () => {
    expect(idsmith('seq', 'list')).toMatchObject({ status: 2 });
  });

  it('does not define twice', () => {
    seq('define', 'once');
    expect(seq('define', 'once')).toMatchObject({
      status: 1,
      stderr:
        'idsmith: sequence "once" is defined already: --if-missing accepts the same definition, seq alter changes it\n',
    });
  });
});

/** The way from the command to a store that has to be reached. Every start of the command takes its time, so the starts are few. */
function shortCases(urlOf: () => string): void {
  const seq = (...args: string[]) => idsmith('seq', ...args, '--store', urlOf());

  it('defines, draws and removes', () => {
    expect(seq('define', 'orders', '--start', '9007199254740993').status).toBe(0);
    expect(seq('next', 'orders', '-n', '2').lines).toEqual(['9007199254740993', '9007199254740994']);
    expect(seq('remove', 'orders')).toMatchObject({ status: 0, stdout: '' });
  });
}

for (const [name, needs, start] of STORE_SERVERS.filter(([name]) => name !== 'sqlite')) {
  await describeWith(needs, `idsmith seq on ${name}`, () => {
    let server: StoreServer;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server?.stop());
    shortCases(() => server.url);
  });
}
