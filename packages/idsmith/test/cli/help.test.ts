import { describe, expect, it } from 'vitest';
import type { Command } from '../../src/cli/command.ts';
import { helpOf } from '../../src/cli/help.ts';
import { COMMANDS as LISTED } from '../../src/cli/main.ts';
import { idsmith } from './in-process.ts';

const COMMANDS = [
  'locality',
  'flake',
  'seq',
  'key',
  'reshard',
  'inspect',
  'check',
  'leases',
  'plan',
  'serve',
  'token',
];

describe('idsmith help', () => {
  it('names every command and the variable', async () => {
    const { status, stdout, stderr } = await idsmith('help');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${command} +[A-Z]`, 'm'));
    expect(stdout).toContain('IDSMITH_STORE');
    expect((await idsmith('--help')).stdout).toBe(stdout);
  });

  it.each([
    [['help', 'seq'], ['seq', '--help'], /^ {2}idsmith seq define NAME /m],
    [['help', 'seq', 'define'], ['seq', 'define', '--help'], /^ +--if-missing +accept/m],
    [['help', 'token', 'create'], ['token', 'create', '--help'], /^ +--scope SCOPES /m],
    [['help', 'reshard'], ['reshard', '--help'], /^ +--accept-older NODE,… .*older data.*\bminting$/m],
    [['help', 'flake'], ['flake', '--help'], /--store URL .*default the variable IDSMITH_STORE/],
  ])('%j prints the same as %j', async (words, flags, pattern) => {
    const { status, stdout, stderr } = await idsmith(...words);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(pattern);
    expect((await idsmith(...flags)).stdout).toBe(stdout);
  });

  it('of a subcommand has its own flags only', async () => {
    const { stdout } = await idsmith('help', 'seq', 'next');
    expect(stdout).toContain('--count');
    expect(stdout).not.toContain('--block-size');
  });

  it.each([
    [['help', 'sequ'], 'unknown command "sequ"; did you mean seq?'],
    [['flaek'], 'unknown command "flaek"; did you mean flake?'],
    [['frobnicate'], 'unknown command "frobnicate"; the commands are locality, flake, uuid7, typeid, seq'],
    [['help', 'seq', 'nxt'], 'not "nxt"; did you mean next?'],
    [['seq', 'lst'], 'not "lst"; did you mean list?'],
    [['token', 'crate'], 'not "crate"; did you mean create?'],
    [['leases', '--namspace', 'x'], 'leases takes no --namspace; did you mean --namespace?'],
  ])('%j is wrong usage with a hint', async (args, message) => {
    const { status, stdout, stderr } = await idsmith(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(`idsmith: `);
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^See idsmith help/m);
  });
});

describe('The help of a command', () => {
  const command: Command = {
    name: 'mint',
    usage: '',
    summary: 'Mint',
    example: 'idsmith mint',
    run: () => [],
    flags: {
      'a-very-long-flag': {
        type: 'string',
        value: 'FILE',
        help: 'a file with many words, one after the other',
      },
      short: { type: 'boolean', help: 'few words' },
    },
  };
  const flagLines = (columns?: number) => helpOf(command, columns).filter((line) => line.startsWith('   '));

  it('begins all texts in one column, also after a long flag', () => {
    expect(flagLines()).toEqual([
      '      --a-very-long-flag FILE  a file with many words, one after the other',
      '      --short                  few words',
      '      --json                   print JSON',
    ]);
  });

  it('breaks texts to the width of the terminal, and leaves a very narrow terminal alone', () => {
    expect(flagLines(60).slice(0, 2)).toEqual([
      '      --a-very-long-flag FILE  a file with many words, one',
      '                               after the other',
    ]);
    for (const columns of [56, 70, 100])
      for (const line of flagLines(columns)) expect(line.length).toBeLessThanOrEqual(columns);
    expect(flagLines(30)).toEqual(flagLines());
  });
});

describe('The list of commands', () => {
  it.each(LISTED.filter((command) => !('from' in command)))('has the summary of $name', async (listed) => {
    const { name, summary } = await listed.load();
    expect({ name, summary }).toEqual({ name: listed.name, summary: listed.summary });
  });
});
