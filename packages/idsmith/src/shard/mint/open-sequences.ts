import { IdError, StoreError } from '../../errors.js';
import { askNodes, type NodeAnswer } from './ask-nodes.js';
import type { NodeSequence } from './node-sequence.js';
import { requireOwnSequence } from './node-set-conflict.js';
import type { SequenceStatus } from './sequence-status.js';

/**
 * Opens the sequences that are new or were lost, provided that no node belongs to another node set.
 *
 * A node set that was never open needs an answer from all its nodes, because a silent node may mint for another node set.
 * Later one open node is enough as a witness, because a hand-over closes all nodes of a node set.
 *
 * @returns the last status of each node that answered
 * @throws NodeSetConflictError when another node set is there, or this node set was handed over
 * @throws StoreError naming the silent nodes that are needed
 */
export async function openSequences(
  sequences: readonly NodeSequence[],
): Promise<ReadonlyMap<NodeSequence, SequenceStatus>> {
  const seen = await askNodes(sequences, (sequence) => sequence.readStatus());
  check(seen);
  // Nothing is written up to here, so a process with a wrong config leaves no trace.
  const silent = seen.filter(({ status }) => status instanceof IdError);
  const awake = sequences.filter((sequence) => !silent.some((answer) => answer.sequence === sequence));
  const generation = Math.max(1, ...ownStatuses(seen).map((status) => status.generation));
  const prepared = await askNodes(awake, (sequence) => sequence.prepare(generation));
  try {
    check([...prepared, ...silent]);
  } catch (error) {
    // A process with another config came at the same time. Both withdraw, so that neither blocks the other.
    await askNodes(awake, (sequence) => sequence.withdraw());
    throw error;
  }
  // Sequences that open together begin at the same millisecond, so each node has proofs of the others from its first key on. A node that
  // an interrupted hand-over has not reached begins where those begin that it has: beyond all keys of the old node set.
  const own = ownStatuses([...seen, ...prepared]);
  const base = Math.max(0, ...own.map(({ state, high, from }) => (state === 'pending' ? high : from)));
  const opened = await askNodes(awake, (sequence) => sequence.open(base));
  requireOwnSequences(opened);
  return new Map(
    opened.flatMap(({ sequence, status }) =>
      status instanceof IdError ? [] : [[sequence, status] as const],
    ),
  );
}

function ownStatuses(answers: readonly NodeAnswer[]): SequenceStatus[] {
  return answers.flatMap(({ status }) =>
    status instanceof IdError || status.whose !== 'own' ? [] : [status],
  );
}

/** Pure: decides from the answers whether minting may begin. */
function check(answers: readonly NodeAnswer[]): void {
  requireOwnSequences(answers);
  const silent = answers.filter(({ status }) => status instanceof IdError);
  const [first] = silent;
  if (first === undefined || answers.some(({ status }) => isWitness(status))) return;
  const names = silent.map(({ sequence }) => sequence.node.address).join(', ');
  // A node that was started again has minted, but its sequence may be older than a hand-over.
  const hasMinted = ownStatuses(answers).some(({ state, generation }) => state === 'open' && generation > 0);
  const why = hasMinted
    ? 'the other nodes were started again, so none of them can tell whether minting was handed over: all nodes are needed once'
    : 'these nodes have not minted together before: all nodes are needed once';
  const { message } = first.status as IdError;
  throw new StoreError(`node ${names} does not answer, and ${why}. ${message}`, { cause: first.status });
}

function isWitness(status: SequenceStatus | IdError): boolean {
  return !(status instanceof IdError) && status.whose === 'own' && status.state === 'open' && !status.lost;
}

function requireOwnSequences(answers: readonly NodeAnswer[]): void {
  for (const { sequence, status } of answers)
    if (!(status instanceof IdError)) requireOwnSequence(sequence.node, sequence.nodeSet, status);
}
