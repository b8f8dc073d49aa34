import {
  askNodes,
  type NodeSequence,
  type NodeSequenceStatus,
  NodeSetConflictError,
  requireAnswers,
} from './node-sequence.js';

/** Nodes with the statuses of their sequences. */
export type Answers = readonly (readonly [NodeSequence, NodeSequenceStatus])[];

/** The generation in which a node set takes over, and what the nodes did before. */
export interface NextGeneration {
  readonly generation: number;
  /** The old nodes as they are now. */
  readonly old: Answers;
  /** An earlier run of this handover has reserved new nodes or closed old ones, or has come to its end. */
  readonly hasBegun: boolean;
  /** The addresses of new nodes that minted by themselves, before minting was handed over to them: the old nodes may have minted the same keys. */
  readonly mintedBefore: readonly string[];
}

/**
 * The generation of the node set that takes over: later than everything that the nodes know. Changes nothing.
 *
 * A new node may have closed its sequence later than the old nodes know: whoever took over began in the next generation. Either minting
 * has left them since, and the two configs are outdated: then two node sets would mint at the same time. Or the old nodes
 * have lost their sequences. Nobody but the operator knows which. Only old nodes that the new ones gave minting to can be accepted so.
 *
 * @param from the old nodes that are not gone
 * @param acceptOlder addresses of old nodes that have lost their sequences
 * @throws NodeSetConflictError naming a new node that knows a later generation, unless all old nodes are in `acceptOlder`
 */
export async function nextGeneration(
  from: readonly NodeSequence[],
  to: readonly NodeSequence[],
  acceptOlder: readonly string[],
): Promise<NextGeneration> {
  const old = requireAnswers(await askNodes(from, (sequence) => sequence.readStatus()));
  const fresh = requireAnswers(await askNodes(to, (sequence) => sequence.readStatus()));
  const statuses = old.map(([, status]) => status);
  requireNotWaiting(old, fresh);
  const hasBegun = isBegun(statuses, fresh);
  const generation = generationAfter(
    statuses,
    fresh.map(([, status]) => status),
    hasBegun,
  );
  const mintedBefore = fresh
    .filter(([, status]) => hasMintedBefore(status, statuses, hasBegun))
    .map(([{ node }]) => node.address);
  const ahead = fresh.filter(([, status]) => isAhead(status, from, generation));
  const [first] = ahead;
  if (first === undefined || from.length === 0) return { generation, old, hasBegun, mintedBefore };
  // Minting that the new nodes gave to others than the old nodes has to be taken over from those.
  const wasGivenToOld = ahead.every(([, { next }]) => next === from[0]?.nodeSet.fingerprint);
  const isAccepted = from.every(({ node }) => acceptOlder.includes(node.address));
  if (!wasGivenToOld || !isAccepted) throw aheadError(first, from, generation - 1, wasGivenToOld);
  // The old node set took over in the generation after the one that was closed.
  const afterAhead = Math.max(...ahead.map(([, status]) => status.generation)) + 2;
  return { generation: Math.max(generation, afterAhead), old, hasBegun, mintedBefore };
}

/**
 * @throws NodeSetConflictError naming an old node that still waits for minting, unless it is the one that has to give minting back
 */
function requireNotWaiting(old: Answers, fresh: Answers): void {
  const [waiting] = old.filter(([, { whose, state }]) => whose === 'own' && state === 'reserved');
  if (waiting === undefined) return;
  const [{ node, nodeSet }] = waiting;
  if (fresh.some(([, { whose, next }]) => whose === 'own' && next === nodeSet.fingerprint)) return;
  throw new NodeSetConflictError(
    `node ${node.address} waits for a resharding to ${nodeSet.nodes} that has begun to hand minting over and has not ended: run that ` +
      'one to its end, or give it up, first',
    nodeSet.fingerprint,
  );
}

function isBegun(old: readonly NodeSequenceStatus[], fresh: Answers): boolean {
  const next = fresh[0]?.[0].nodeSet.fingerprint;
  return (
    old.length === 0 ||
    old.some((status) => (status.whose === 'own' ? status.next : status.fingerprint) === next) ||
    fresh.some(([, { whose, state }]) => whose === 'own' && state === 'reserved')
  );
}

/**
 * Pure: the generation after the latest one that the old node set knows, or the one in which this handover has begun. New nodes
 * that mint although the handover has not begun go on in a later generation, too.
 */
function generationAfter(
  old: readonly NodeSequenceStatus[],
  fresh: readonly NodeSequenceStatus[],
  hasBegun: boolean,
): number {
  const afterOld = old.filter(({ whose }) => whose === 'own').map(({ generation }) => generation + 1);
  const own = fresh.filter(({ whose }) => whose === 'own');
  const used = own
    .filter(({ state }) => state !== 'closed')
    .map(({ generation }) => (hasBegun ? generation : generation + 1));
  // Minting was handed over to old nodes that are all lost, in the generation after the one that was closed.
  const closed = old.length > 0 ? [] : own.filter(({ state }) => state === 'closed');
  return Math.max(2, ...afterOld, ...used, ...closed.map(({ generation }) => generation + 2));
}

/**
 * Pure: tells whether a new node has minted keys that the old nodes may have minted, too. Node sets that began mint other variants than
 * node sets that took over.
 */
function hasMintedBefore(
  { whose, state, generation }: NodeSequenceStatus,
  old: readonly NodeSequenceStatus[],
  hasBegun: boolean,
): boolean {
  if (whose !== 'own' || state !== 'open') return false;
  const hasOldTakenOver = old.some((status) => status.whose === 'own' && status.generation > 1);
  return generation === 1 || (!hasBegun && hasOldTakenOver);
}

/**
 * Pure: tells whether a new node knows more than the old ones. Its sequence ended in some generation, and whoever took over began in the one
 * after. If that was the old node set, the present handover is at least two generations later.
 */
function isAhead(status: NodeSequenceStatus, [old]: readonly NodeSequence[], generation: number): boolean {
  const isOld = status.fingerprint === old?.nodeSet.fingerprint;
  return status.state === 'closed' && !isOld && status.generation >= generation - 1;
}

function aheadError(
  [{ node }, { generation, fingerprint }]: Answers[number],
  from: readonly NodeSequence[],
  known: number,
  wasGivenToOld: boolean,
): NodeSetConflictError {
  const older = from.map((sequence) => sequence.node.address);
  const names = older.join(', ');
  const wayOut = wasGivenToOld
    ? `start it with newer data if there is any. If there is none, and no other nodes have taken minting over since, run the ` +
      `resharding with acceptOlder (--accept-older ${older.join(',')})`
    : 'and it is the one that mints now, reshard to servers that have never minted';
  return new NodeSetConflictError(
    `node ${node.address} has handed minting over in generation ${generation}, and ${names} knows no generation after ${known}. ` +
      'Nothing was changed. If minting went on to other nodes since, these configs are outdated: reshard from the config that ' +
      `mints now. If ${names} has lost its data instead, ${wayOut}`,
    fingerprint,
  );
}
