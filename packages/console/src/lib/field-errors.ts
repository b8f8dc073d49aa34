import { ApiError, sentenceOf } from '../api/errors.js';

/** An error message for each field of a form, and for the form as a whole. */
export type FieldErrors = Readonly<Record<string, string>>;

/** The key of errors that belong to no field. */
export const WHOLE_FORM = '';

/** `blockSize in the body must be a whole number from 1 to 5, not 6`, `the weight of shards.a must be …`, `"x" in the query is not known`. */
const NAMED = /^"?(\w+)"?(?: in the (?:body|query|path))? (?:must|is|has)\b/;

/** The error of a request, under the field that its message names. */
export function fieldErrorsOf(error: unknown, fields: readonly string[]): FieldErrors {
  const field = error instanceof ApiError ? (fieldOf(error, fields) ?? WHOLE_FORM) : WHOLE_FORM;
  return { [field]: sentenceOf(withoutPlace(error)) };
}

function fieldOf({ code, message }: ApiError, fields: readonly string[]): string | undefined {
  const isAboutName = code === 'SEQUENCE_EXISTS' || code === 'NO_SUCH_SEQUENCE';
  if (isAboutName || message.startsWith('the name of a sequence'))
    return fields.find((field) => field === 'name');
  const named = NAMED.exec(message)?.[1];
  return fields.find((field) => field === named);
}

/** The error without the part of the request that has the field: a form shows the field itself. */
function withoutPlace(error: unknown): Error {
  const text = error instanceof Error ? error.message : String(error);
  return new Error(text.replace(/ in the (body|query|path)(?= )/, ''));
}
