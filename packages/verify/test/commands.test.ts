import { expect, it } from 'vitest';
import { COMMANDS } from '../../idsmith/src/cli/main.ts';
import { commands } from '../src/cli/index.ts';

it('The commands of this package are listed by the command line with the same names and summaries', () => {
  const listed = COMMANDS.flatMap((command) =>
    'from' in command && command.from === '@idsmith/verify' ? [[command.name, command.summary]] : [],
  );
  expect(listed).toEqual(commands.map(({ name, summary }) => [name, summary]));
});
