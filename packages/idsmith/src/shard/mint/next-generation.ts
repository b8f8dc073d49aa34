import { askNodes, requireAnswers } from './ask-nodes.js';
import type { NodeSequence } from './node-sequence.js';
import { NodeSetConflictError } from './node-set-conflict.js';
import type { SequenceStatus } from './sequence-status.js';

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
): Promise<number> {
  const old = requireAnswers(await askNodes(from, (sequence) => sequence.readStatus()));
  const fresh = requireAnswers(await askNodes(to, (sequence) => sequence.readStatus()));
  const generation = generationAfter(
    old.map(([, status]) => status),
    fresh.map(([, status]) => status),
  );
  const ahead = fresh.filter(([, status]) => isAhead(status, from, generation));
  const [first] = ahead;
  if (first === undefined || from.length === 0) return generation;
  // Minting that the new nodes gave to others than the old nodes has to be taken over from those.
  const wasGivenToOld = ahead.every(([, { next }]) => next === from[0]?.nodeSet.fingerprint);
  const isAccepted = from.every(({ node }) => acceptOlder.includes(node.address));
  if (!wasGivenToOld || !isAccepted) throw aheadError(first, from, generation - 1, wasGivenToOld);
  // The old node set took over in the generation after the one that was closed.
  return Math.max(...ahead.map(([, status]) => status.generation)) + 2;
}

type Answers = readonly (readonly [NodeSequence, SequenceStatus])[];

/** Pure: the generation after the latest one that the old node set knows, or the one in which this hand-over has begun. */
function generationAfter(old: readonly SequenceStatus[], fresh: readonly SequenceStatus[]): number {
  const afterOld = old.filter(({ whose }) => whose === 'own').map(({ generation }) => generation + 1);
  const own = fresh.filter(({ whose }) => whose === 'own');
  const begun = own.filter(({ state }) => state === 'open').map(({ generation }) => generation);
  // Minting was handed over to old nodes that are all lost, in the generation after the one that was closed.
  const closed = old.length > 0 ? [] : own.filter(({ state }) => state === 'closed');
  return Math.max(2, ...afterOld, ...begun, ...closed.map(({ generation }) => generation + 2));
}

/**
 * Pure: tells whether a new node knows more than the old ones. Its sequence ended in some generation, and whoever took over began in the one
 * after. If that was the old node set, the present hand-over is at least two generations later.
 */
function isAhead(status: SequenceStatus, [old]: readonly NodeSequence[], generation: number): boolean {
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
