import { InvalidOptionError, StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import type { Flags } from '../../src/cli/command.ts';
import { withFlagName } from '../../src/cli/failure.ts';

const FLAGS: Flags = {
  'block-size': { type: 'string', help: '' },
  next: { type: 'string', help: '' },
};

const shown = (message: string) => (withFlagName(new InvalidOptionError(message), FLAGS) as Error).message;

describe('An error about an option', () => {
  it.each([
    ['blockSize must be at most 3, not 20', '--block-size must be at most 3, not 20'],
    [
      'next must be 10 or further on, or ids would repeat, not 5',
      '--next must be 10 or further on, or ids would repeat, not 5',
    ],
  ])('%j names the flag', (message, expected) => {
    expect(shown(message)).toBe(expected);
  });

  it.each(['--count must be 1, not 0', 'step must be 1, not 0', 'the name must be text', 'next is wrong'])(
    '%j stays as it is when no flag has its name',
    (message) => {
      expect(shown(message)).toBe(message);
    },
  );

  it('stays as it is when it is another error', () => {
    const error = new StoreError('next must be there');
    expect(withFlagName(error, FLAGS)).toBe(error);
  });
});
