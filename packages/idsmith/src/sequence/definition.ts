import { SequenceExistsError } from '../errors.js';
import { show } from '../options.js';
import { defineRow } from './blocks.js';
import type { SequenceInfo, SequenceOptions } from './port.js';

const COMPARED = ['start', 'blockSize', 'step', 'min', 'max', 'cycle'] as const;

type Definition = Pick<SequenceInfo, (typeof COMPARED)[number]>;

/**
 * The definition that `define` would write, with every default filled in.
 *
 * @throws InvalidOptionError naming the option that is wrong
 */
export function definitionOf(name: string, options: SequenceOptions): Definition {
  return defineRow({ ...options, name }, 0);
}

/**
 * The stored sequence, if it has the definition. A start that the store does not know, because another program made the row,
 * is not compared.
 *
 * @throws SequenceExistsError showing both definitions when they differ
 */
export function requireSameDefinition(stored: SequenceInfo, wanted: Definition): SequenceInfo {
  const isSame = (field: keyof Definition) =>
    stored[field] === wanted[field] || (field === 'start' && stored.start === undefined);
  if (COMPARED.every(isSame)) return stored;
  throw new SequenceExistsError(
    `sequence ${show(stored.name)} exists with another definition: ${describe(stored)} in the store, ` +
      `${describe(wanted)} wanted`,
  );
}

const describe = (definition: Definition) =>
  `{ ${COMPARED.map((field) => `${field}: ${definition[field] ?? 'unknown'}`).join(', ')} }`;
