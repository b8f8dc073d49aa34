import type { Block, SequenceChanges, SequenceDefinition, SequenceInfo } from 'idsmith';

// Sequences and blocks as JSON: numbers of 64 bits are text.

export function sequenceJson(info: SequenceInfo): object {
  const { name, start, next, blockSize, step, min, max, cycle, exhausted } = info;
  return {
    ...{ name, start: start === undefined ? null : String(start), next: String(next), blockSize, step },
    ...{ min: String(min), max: String(max), cycle, exhausted },
  };
}

export function blockJson({ first, step, count, origin }: Block): object {
  return { first: String(first), step, count, ...(origin !== undefined && { origin }) };
}

/** A block of a request that has been validated. */
export function blockOf(body: unknown): Block {
  const block = body as Omit<Block, 'first'> & { first: string };
  return { ...block, first: BigInt(block.first) };
}

/** A definition or changes of a request that has been validated. */
export function exact<T extends SequenceDefinition | SequenceChanges>(body: unknown): T {
  const options = { ...(body as Record<string, unknown>) };
  for (const key of ['start', 'next', 'min', 'max'])
    if (typeof options[key] === 'string') options[key] = BigInt(options[key]);
  return options as unknown as T;
}
