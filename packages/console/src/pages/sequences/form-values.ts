import type { SequenceJson, SequenceShape } from '../../api/types.js';
import { type Typed, typedDigits, typedNumber } from '../../lib/typed-number.js';
import { FormError } from '../../ui/use-submit.js';

/** The fields of the form, as they are typed. */
export interface ShapeText {
  readonly name: string;
  readonly start: string;
  readonly next: string;
  readonly blockSize: string;
  readonly step: string;
  readonly min: string;
  readonly max: string;
  readonly cycle: boolean;
}

export const EMPTY: ShapeText = {
  name: '',
  start: '',
  next: '',
  blockSize: '',
  step: '',
  min: '',
  max: '',
  cycle: false,
};

/** A sequence as it stands, to be altered. */
export function textOf({ name, next, blockSize, step, min, max, cycle, exhausted }: SequenceJson): ShapeText {
  const shown = { blockSize: String(blockSize), step: String(step), min, max, cycle };
  return { ...EMPTY, ...shown, name, next: exhausted ? '' : next };
}

/** What people call the fields, and how each is read. */
const READERS = {
  start: ['Start', typedDigits],
  next: ['Next', typedDigits],
  blockSize: ['Block size', typedNumber],
  step: ['Step', typedNumber],
  min: ['Lowest id', typedDigits],
  max: ['Highest id', typedDigits],
} as const;

/**
 * What is to be sent of what was typed: all that is not empty, or only what differs from `before`.
 *
 * @throws FormError with every field that is not even a number
 */
export function shapeOf(text: ShapeText, before: ShapeText = EMPTY): SequenceShape {
  const shape: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const [field, [label, read]] of Object.entries(READERS)) {
    const typed = text[field as keyof typeof READERS];
    if (typed.trim() === before[field as keyof typeof READERS]) continue;
    const result: Typed<string | number> = read(label, typed);
    if ('error' in result) errors[field] = result.error;
    else if (field === 'step' && result.value === 0) errors[field] = 'Step must be a whole number, not 0.';
    else if (result.value !== undefined) shape[field] = result.value;
    else if (before !== EMPTY) errors[field] = `${label} cannot be left empty.`;
  }
  if (Object.keys(errors).length > 0) throw new FormError(errors);
  if (text.cycle !== before.cycle) shape.cycle = text.cycle;
  return shape as SequenceShape;
}
