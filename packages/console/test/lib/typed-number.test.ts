import { describe, expect, it } from 'vitest';
import { typedDigits, typedNumber } from '../../src/lib/typed-number.ts';

describe('numbers that people type', () => {
  it('may be of any size, and stay exact', () => {
    expect(typedDigits('Start', ' 9223372036854775807 ')).toEqual({ value: '9223372036854775807' });
    expect(typedDigits('Start', '−5')).toEqual({ value: '-5' });
    expect(typedDigits('Start', '')).toEqual({ value: undefined });
  });

  it.each(['1.5', '1e3', 'ten', '0x10', '1 000', '--1'])('are not %s', (text) => {
    expect(typedDigits('Start', text)).toEqual({ error: 'Start must be a whole number.' });
  });

  it('are refused where a number cannot hold them', () => {
    expect(typedNumber('Step', '9007199254740991')).toEqual({ value: 9007199254740991 });
    expect(typedNumber('Step', '9007199254740993')).toEqual({ error: 'Step must be within ±(2^53 − 1).' });
  });
});
