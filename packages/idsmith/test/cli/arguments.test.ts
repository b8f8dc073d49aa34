import { describe, expect, it } from 'vitest';
import { readArguments, readCount } from '../../src/cli/arguments.ts';
import type { Command, CommandGroup } from '../../src/cli/command.ts';
import { findInGroup } from '../../src/cli/main.ts';

const command: Command = {
  name: 'mint',
  usage: '',
  summary: 'Mint',
  example: 'idsmith mint',
  flags: {
    count: { type: 'string', short: 'n', value: 'N', help: 'how many' },
    store: { type: 'string', value: 'URL', help: 'the store' },
    'block-size': { type: 'string', value: 'N', help: 'ids' },
    cycle: { type: 'boolean', help: 'again' },
  },
  operands: 1,
  run: () => [],
};

const read = (...args: string[]) => readArguments(command, args);

describe('The arguments of a command', () => {
  it.each([
    [['--count', '5'], '5'],
    [['--count=5'], '5'],
    [['-n', '5'], '5'],
    [['-n5'], '5'],
    [['-n=5'], '5'],
    [['-n', '-1'], '-1'],
    [['--count', '-1'], '-1'],
    [['--count=--x'], '--x'],
    [['--count='], ''],
    [['-n', '1', '-n', '2'], '2'],
  ])('%j has the count %j', (args, count) => {
    expect(read(...args).text('count')).toBe(count);
  });

  it('are flags in any order, and others', () => {
    const given = read('orders', '--cycle', '--store', 'sqlite:x');
    expect({ rest: given.rest, cycle: given.on('cycle'), store: given.text('store') }).toEqual({
      rest: ['orders'],
      cycle: true,
      store: 'sqlite:x',
    });
    expect(read('--', '--cycle').rest).toEqual(['--cycle']);
    expect(read('-').rest).toEqual(['-']);
    expect(read('-17').rest).toEqual(['-17']);
  });

  it.each([
    [['--stroe', 'x'], 'mint takes no --stroe; did you mean --store?'],
    [['--Store', 'x'], 'mint takes no --Store; did you mean --store?'],
    [['--blockSize=7'], 'mint takes no --blockSize; did you mean --block-size?'],
    [['-store', 'x'], 'mint takes no -store; did you mean --store?'],
    [['-count=7'], 'mint takes no -count; did you mean --count?'],
    [['--jsn'], 'mint takes no --jsn; did you mean --json?'],
    [['--frobnicate'], 'mint takes no --frobnicate'],
    [['-x'], 'mint takes no -x'],
    [['-nn'], 'mint takes no -nn'],
    [['--constructor'], 'mint takes no --constructor'],
    [['--__proto__', 'x'], 'mint takes no --__proto__'],
    [['--cycle=true'], '--cycle takes no value'],
    [['--store'], '--store needs a value: --store URL'],
    [['-n'], '--count needs a value: --count N'],
    [['--store', '--cycle'], '--store needs a value, and "--cycle" is a flag: --store URL'],
    [['a', 'b'], 'mint takes no "b"'],
  ])('%j are wrong', (args, message) => {
    expect(() => read(...args)).toThrow(new Error(message));
  });

  it.each(['-1', '1.5', '1e3', '0x10', ' 5', '', 'five', '٣', '9999999999999999', '99999999999999999999'])(
    'have no count of %j',
    (count) => {
      expect(() => readCount(read(`--count=${count}`), 1)).toThrow(
        `--count must be a whole number from 1 to 999999999999999, not ${JSON.stringify(count)}`,
      );
    },
  );
});

describe('A group of commands', () => {
  const group: CommandGroup = {
    name: 'coin',
    summary: 'Coins',
    commands: ['mint', 'melt'].map((word) => ({ ...command, name: `coin ${word}` })),
  };
  const find = (...args: string[]) => findInGroup(group, args);

  it('finds its command, also behind flags', () => {
    expect(find('melt', 'gold')).toMatchObject({ command: { name: 'coin melt' }, args: ['gold'] });
    expect(find('--store', 'melt', 'mint', 'gold')).toMatchObject({
      command: { name: 'coin mint' },
      args: ['--store', 'melt', 'gold'],
    });
  });

  it('has help of its own and of each command', () => {
    for (const args of [['--help'], ['-h'], ['help']]) expect(find(...args)).toBeUndefined();
    for (const args of [
      ['melt', '--help'],
      ['help', 'melt'],
    ])
      expect(find(...args)).toMatchObject({ command: { name: 'coin melt' }, args: ['--help'] });
  });

  it.each([
    [[], 'coin needs one of mint, melt'],
    [['met'], 'coin needs one of mint, melt, not "met"; did you mean melt?'],
    [['help', 'mitn'], 'coin needs one of mint, melt, not "mitn"; did you mean mint?'],
    [['constructor'], 'coin needs one of mint, melt, not "constructor"'],
    [['--stor', 'x', 'mint'], 'coin takes no --stor; did you mean --store?'],
  ])('does not find %j', (args, message) => {
    expect(() => find(...args)).toThrow(new Error(message));
  });
});
