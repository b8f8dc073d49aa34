import type { SequenceChanges, SequenceJson } from '../../api/types.js';
import { type Typed, typedDigits, typedNumber } from '../../lib/typed-number.js';
import { FormError } from '../../ui/use-submit.js';

/** The fields of the form, as typed. */
export interface FormValues {
  readonly name: string;
  readonly start: string;
  readonly next: string;
  readonly blockSize: string;
  readonly step: string;
  readonly min: string;
  readonly max: string;
  readonly cycle: boolean;
}

export const EMPTY_FORM: FormValues = {
  name: '',
  start: '',
  next: '',
  blockSize: '',
  step: '',
  min: '',
  max: '',
  cycle: false,
};

/** The values of a form that alters a sequence. */
export function valuesOf({
  name,
  next,
  blockSize,
  step,
  min,
  max,
  cycle,
  exhausted,
  stranded,
}: SequenceJson): FormValues {
  const shown = { blockSize: String(blockSize), step: String(step), min, max, cycle };
  return { ...EMPTY_FORM, ...shown, name, next: exhausted && (stranded ?? '0') === '0' ? '' : next };
}

/** The label of each field, and the function that reads it. */
const READERS = {
  start: ['Start', typedDigits],
  next: ['Next', typedDigits],
  blockSize: ['Block size', typedNumber],
  step: ['Step', typedNumber],
  min: ['Lowest id', typedDigits],
  max: ['Highest id', typedDigits],
} as const;

/**
 * The changes to send: all fields that are not empty, or only those that differ from `before`.
 *
 * @throws FormError with an error for every field that is not a number
 */
export function changesIn(values: FormValues, before: FormValues = EMPTY_FORM): SequenceChanges {
  const changes: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const [field, [label, read]] of Object.entries(READERS)) {
    const typed = values[field as keyof typeof READERS];
    if (typed.trim() === before[field as keyof typeof READERS]) continue;
    const result: Typed<string | number> = read(label, typed);
    if ('error' in result) errors[field] = result.error;
    else if (field === 'step' && result.value === 0) errors[field] = 'Step must be a whole number, not 0.';
    else if (result.value !== undefined) changes[field] = result.value;
    else if (before !== EMPTY_FORM) errors[field] = `${label} cannot be empty.`;
  }
  if (Object.keys(errors).length > 0) throw new FormError(errors);
  if (values.cycle !== before.cycle) changes.cycle = values.cycle;
  return changes as SequenceChanges;
}
