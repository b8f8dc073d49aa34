import { IdError, StoreError } from 'idsmith/internal';
import {
  askNodes,
  type NodeAnswer,
  type NodeSequence,
  type NodeSequenceStatus,
  NodeSetConflictError,
  requireOwnSequence,
} from './node-sequence.js';

/**
 * Opens the sequences that are new or were lost, provided that no node belongs to another node set.
 *
 * A node set that was never open needs an answer from all its nodes, because a silent node may mint for another node set.
 * Later one open node is enough as a witness, because a handover closes all nodes of a node set.
 *
 * @returns the last status of each node, or the error of a node that could not be asked or opened
 * @throws NodeSetConflictError when another node set is there, or this node set was handed over, or a handover to it is missing
 * @throws StoreError naming the silent nodes that are needed
 */
export async function openSequences(
  sequences: readonly NodeSequence[],
): Promise<ReadonlyMap<NodeSequence, NodeSequenceStatus | IdError>> {
  const seen = await askNodes(sequences, (sequence) => sequence.readStatus());
  check(seen);
  if (sequences[0]?.nodeSet.takesOver) requireTakenOver(seen);
  // Nothing is written up to here, so a process with a wrong config leaves no trace.
  const silent = seen.filter(({ status }) => status instanceof IdError);
  const awake = sequences.filter((sequence) => !silent.some((answer) => answer.sequence === sequence));
  const generation = Math.max(1, ...usedStatuses(seen).map((status) => status.generation));
  const prepared = await askNodes(awake, (sequence) => sequence.prepare(generation));
  try {
    check([...prepared, ...silent]);
  } catch (error) {
    // A process with another config came at the same time. Both withdraw, so that neither blocks the other.
    await askNodes(awake, (sequence) => sequence.withdraw('pending'));
    throw error;
  }
  // Sequences that open together begin at the same millisecond, so each node has proofs of the others from its first key on. A node that
  // an interrupted handover has not reached begins where those begin that it has: beyond all keys of the old node set.
  const own = usedStatuses([...seen, ...prepared]);
  const base = Math.max(0, ...own.map(({ state, high, from }) => (state === 'pending' ? high : from)));
  const failed = [...silent, ...prepared].filter(({ status }) => status instanceof IdError);
  const ready = sequences.filter((sequence) => !failed.some((answer) => answer.sequence === sequence));
  const opened = await askNodes(ready, (sequence) => sequence.open(base, generation));
  requireOwnSequences(opened);
  return new Map([...opened, ...failed].map(({ sequence, status }) => [sequence, status]));
}

function ownStatuses(answers: readonly NodeAnswer[]): NodeSequenceStatus[] {
  return answers.flatMap(({ status }) =>
    status instanceof IdError || status.whose !== 'own' ? [] : [status],
  );
}

/** The statuses of nodes that a handover under way does not keep for this node set. */
function usedStatuses(answers: readonly NodeAnswer[]): NodeSequenceStatus[] {
  return ownStatuses(answers).filter(({ state }) => state !== 'reserved');
}

/** Pure: decides from the answers whether minting may begin. */
function check(answers: readonly NodeAnswer[]): void {
  requireOwnSequences(answers);
  requireReached(answers);
  const silent = answers.filter(({ status }) => status instanceof IdError);
  const [first] = silent;
  if (first === undefined || answers.some(({ status }) => isWitness(status))) return;
  const names = silent.map(({ sequence }) => sequence.node.address).join(', ');
  // A node that was started again has minted, but its sequence may be older than a handover.
  const hasMinted = ownStatuses(answers).some(({ state, generation }) => state === 'open' && generation > 0);
  const why = hasMinted
    ? 'the other nodes were started again, so none of them can tell whether minting was handed over: all nodes are needed once'
    : 'these nodes have not minted together before: all nodes are needed once';
  const { message } = first.status as IdError;
  throw new StoreError(`node ${names} does not answer, and ${why}. ${message}`, {
    cause: first.status,
    reason: 'UNREACHABLE',
  });
}

/**
 * Pure: makes sure that a handover which keeps nodes for this node set has opened one of them. It opens a node only after all old
 * nodes are closed, so the others may follow.
 */
function requireReached(answers: readonly NodeAnswer[]): void {
  const open = ownStatuses(answers).filter(({ state }) => state === 'open');
  const reached = Math.max(0, ...open.map(({ generation }) => generation));
  for (const { sequence, status } of answers) {
    if (status instanceof IdError || status.whose !== 'own' || status.state !== 'reserved') continue;
    if (status.generation <= reached) continue;
    throw new NodeSetConflictError(
      `shards: node ${sequence.node.address} waits for a resharding to ${sequence.nodeSet.nodes} that has begun to hand minting over ` +
        'and has not ended: run that resharding again to continue, or give it up with abortReshard (--abort)',
      status.fingerprint,
    );
  }
}

/**
 * Pure: makes sure that minting was handed over to a node set, at some time. A node set that began by itself is in generation 1.
 *
 * @throws NodeSetConflictError unless a node says so
 */
export function requireTakenOver(answers: readonly NodeAnswer[]): void {
  if (usedStatuses(answers).some(({ state, generation }) => state === 'open' && generation > 1)) return;
  const [first] = answers as readonly [NodeAnswer];
  const { nodes, fingerprint } = first.sequence.nodeSet;
  throw new NodeSetConflictError(
    `shards: minting was not handed over to ${nodes} yet, and other nodes may still mint: run the resharding to this config first. ` +
      'If it has ended and these nodes have lost their data since, run it again',
    fingerprint,
  );
}

function isWitness(status: NodeSequenceStatus | IdError): boolean {
  return !(status instanceof IdError) && status.whose === 'own' && status.state === 'open' && !status.lost;
}

function requireOwnSequences(answers: readonly NodeAnswer[]): void {
  for (const { sequence, status } of answers)
    if (!(status instanceof IdError)) requireOwnSequence(sequence.node, sequence.nodeSet, status);
}
