import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../idsmith/src/cli/main.ts';
import { commands } from '../../src/cli/index.ts';
import { idsmith } from '../support/command.ts';

describe('The commands of the server', () => {
  it('are listed by the command line with the same names and summaries', () => {
    const listed = COMMANDS.flatMap((command) =>
      'from' in command && command.from === '@idsmith/server' ? [[command.name, command.summary]] : [],
    );
    expect(listed).toEqual(commands.map(({ name, summary }) => [name, summary]));
  });

  const single = commands.flatMap((command) => ('commands' in command ? command.commands : [command]));

  it.each(single.map(({ name, flags }) => [name, Object.keys(flags)] as const))(
    'are found by the command line: %s has its help',
    async (name, flags) => {
      const { code, stdout } = await idsmith([...name.split(' '), '--help']);
      expect(code).toBe(0);
      for (const flag of flags) expect(stdout).toMatch(new RegExp(`^ +--${flag} `, 'm'));
    },
  );
});
