import type { Block, SequenceChanges, SequenceDefinition, SequenceInfo } from 'idsmith';
import type { HandedOut } from '../mint/handed-out.js';

// Sequences and blocks as JSON. 64-bit numbers are decimal strings there.

/** @param handedOut the ids that this server has handed out of its sequences */
export function sequenceToJson(info: SequenceInfo, handedOut: HandedOut): object {
  const { name, start, next, blockSize, step, min, max, cycle, exhausted } = info;
  return {
    ...{ name, start: start === undefined ? null : String(start), next: String(next), blockSize, step },
    ...{ min: String(min), max: String(max), cycle, exhausted },
    ...{ handedOut: handedOut.read(name), since: handedOut.since },
  };
}

export function blockToJson({ first, step, count, origin }: Block): object {
  return { first: String(first), step, count, ...(origin !== undefined && { origin }) };
}

/** Reads a block from a validated body. */
export function blockFromJson(body: unknown): Block {
  const block = body as Omit<Block, 'first'> & { first: string };
  return { ...block, first: BigInt(block.first) };
}

/** Reads the options of a sequence from a validated body. */
export function sequenceFromJson<T extends SequenceDefinition | SequenceChanges>(body: unknown): T {
  const options = { ...(body as Record<string, unknown>) };
  for (const key of ['start', 'next', 'min', 'max'])
    if (typeof options[key] === 'string') options[key] = BigInt(options[key]);
  return options as unknown as T;
}
