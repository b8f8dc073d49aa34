import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { fieldErrorsOf, WHOLE_FORM } from '../../src/lib/field-errors.ts';

describe('the error of a request', () => {
  const fields = ['name', 'start', 'blockSize', 'min', 'count'];
  const errors = (detail: string, code = 'INVALID_OPTION') =>
    fieldErrorsOf(new ApiError({ status: 422, code, detail }), fields);

  it.each([
    ['blockSize must be a whole number from 1 to 2147483647, not 0', 'blockSize'],
    ['min must be at most max, which is 5, not 9', 'min'],
    ['the name of a sequence must be text of 1 to 255 characters', 'name'],
    ['count must be at most 10 for this token, not 11', 'count'],
  ])('%s stands beside %s', (detail, field) => {
    expect(errors(detail)).toEqual({ [field]: `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.` });
  });

  it('does not name the part of the request that has the field', () => {
    expect(errors('count in the query must be a whole number, not "x"')).toEqual({
      count: 'Count must be a whole number, not "x".',
    });
  });

  it('belongs to the name when the sequence exists already, or does not exist', () => {
    expect(errors('there is a sequence "a"', 'SEQUENCE_EXISTS')).toHaveProperty('name');
    expect(errors('there is no sequence "a"', 'NO_SUCH_SEQUENCE')).toHaveProperty('name');
  });

  it('belongs to the whole form otherwise', () => {
    expect(errors('the store is away', 'STORE')).toEqual({ [WHOLE_FORM]: 'The store is away.' });
    expect(fieldErrorsOf(new Error('what?'), fields)).toEqual({ [WHOLE_FORM]: 'What?' });
  });
});
