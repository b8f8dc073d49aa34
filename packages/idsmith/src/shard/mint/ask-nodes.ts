import { IdError } from '../../errors.js';
import type { NodeSequence } from './node-sequence.js';
import type { SequenceStatus } from './sequence-status.js';

/** The answer of one node: the status of its sequence, or the error if the node did not answer. */
export interface NodeAnswer {
  readonly sequence: NodeSequence;
  readonly status: SequenceStatus | IdError;
}

/** Asks all nodes the same question at the same time. */
export async function askNodes(
  sequences: readonly NodeSequence[],
  ask: (sequence: NodeSequence) => Promise<SequenceStatus>,
): Promise<NodeAnswer[]> {
  return Promise.all(
    sequences.map(async (sequence) => {
      const status = await ask(sequence).catch((error) => {
        if (error instanceof IdError) return error;
        throw error;
      });
      return { sequence, status };
    }),
  );
}

/** @throws the error of the first node that did not answer */
export function requireAnswers(answers: readonly NodeAnswer[]): [NodeSequence, SequenceStatus][] {
  return answers.map(({ sequence, status }) => {
    if (status instanceof IdError) throw status;
    return [sequence, status];
  });
}
