import { InvalidOptionError, StoreError } from '../../errors.js';
import { report } from '../../support/diagnostics.js';
import { askNodes, requireAnswers } from './ask-nodes.js';
import { nextGeneration } from './next-generation.js';
import type { NodeSequence } from './node-sequence.js';
import { NodeSetConflictError } from './node-set-conflict.js';
import type { SequenceStatus } from './sequence-status.js';

/** The number of times that a hand-over starts again when a node loses its sequence in the middle. */
const MAX_ROUNDS = 5;

/** Nodes that a hand-over goes on without, or in spite of what they have forgotten. */
export interface HandOverOptions {
  /**
   * Addresses of old nodes that are lost and will never answer again. The clocks of the other nodes then tell how far the lost nodes
   * may have minted. No process may reach a lost node any more.
   */
  readonly gone?: readonly string[];
  /** Addresses of old nodes that were started again with older data or without any, and that nobody took minting over from. */
  readonly acceptOlder?: readonly string[];
}

/**
 * Hands minting over from the nodes of `from` to the nodes of `to`. The two never mint at the same time: all old sequences
 * are closed, and seen to be closed, before the first new one opens, beyond the highest key of the old ones. A hand-over
 * that was killed at any point continues when it is run again. From then on, processes with the old config fail with a
 * {@link NodeSetConflictError}.
 *
 * @throws NodeSetConflictError when a third node set owns one of the nodes, or a new node knows a later generation than all old nodes
 * @throws StoreError naming a node that does not answer
 */
export async function handOver(
  from: readonly NodeSequence[],
  to: readonly NodeSequence[],
  { gone = [], acceptOlder = [] }: HandOverOptions = {},
): Promise<void> {
  const [old, next] = [from[0]?.nodeSet, to[0]?.nodeSet];
  if (old === undefined || next === undefined || old.fingerprint === next.fingerprint) return;
  if (old.epoch !== next.epoch)
    throw new InvalidOptionError(`epoch must stay ${old.epoch}, not become ${next.epoch}: keys would repeat`);
  const left = from.filter(({ node }) => !gone.includes(node.address));
  for (let round = 1; ; round++) {
    const generation = await nextGeneration(left, to, acceptOlder);
    const closed =
      left.length > 0
        ? await closeAll(left, next.fingerprint, generation - 1)
        : await requireHandedOverTo(old.fingerprint, to);
    // A lost node minted at most its lead ahead of its clock. The clocks of the other nodes stand for its clock.
    const reach = left.length === from.length ? 0 : old.lead + old.skew;
    const base = Math.max(...closed.map(({ high, now }) => Math.max(high, reach === 0 ? 0 : now + reach)));
    // A node that lost its closed sequence may have been opened again. Only sequences that are still closed count.
    const seen = requireAnswers(await askNodes(left, (sequence) => sequence.readStatus()));
    if (seen.every(([, status]) => isClosedFor(status, next.fingerprint))) {
      await adoptInOrder(from, to, base, generation);
      report('idsmith:key', () => ({ event: 'handed-over', from: old.nodes, to: next.nodes, generation }));
      return;
    }
    if (round === MAX_ROUNDS)
      throw new StoreError(
        `handing minting over from ${old.nodes} failed: a node lost its sequence ${MAX_ROUNDS} times in a row`,
      );
  }
}

/**
 * Makes sure that the nodes which take minting back from lost nodes had handed it over to these, and to nobody else.
 *
 * @returns the statuses, whose clocks stand for those of the lost nodes
 */
async function requireHandedOverTo(lost: string, to: readonly NodeSequence[]): Promise<SequenceStatus[]> {
  const answers = requireAnswers(await askNodes(to, (sequence) => sequence.readStatus()));
  for (const [{ node }, { whose, state, next, nodes }] of answers)
    if (whose === 'own' && state === 'closed' && next !== lost)
      throw new NodeSetConflictError(
        `node ${node.address} has handed minting over to other nodes than those that are gone (it was in ${nodes}): finish that hand-over first`,
        next,
      );
  return answers.map(([, status]) => status);
}

async function closeAll(
  from: readonly NodeSequence[],
  next: string,
  generation: number,
): Promise<SequenceStatus[]> {
  const closed = requireAnswers(await askNodes(from, (sequence) => sequence.close(next, generation)));
  for (const [{ node }, status] of closed)
    if (!isClosedFor(status, next) && status.whose !== 'missing')
      throw new NodeSetConflictError(
        `node ${node.address} belongs to a third set of nodes (${status.nodes}): finish that hand-over first`,
        status.state === 'closed' && status.whose === 'own' ? status.next : status.fingerprint,
      );
  return closed.map(([, status]) => status);
}

/** Tells whether a sequence is closed for the next node set, or already taken over by it. */
function isClosedFor({ whose, state, next, fingerprint }: SequenceStatus, nextFingerprint: string): boolean {
  return whose === 'foreign'
    ? fingerprint === nextFingerprint
    : whose === 'own' && state === 'closed' && next === nextFingerprint;
}

/** Opens the nodes that both node sets have first: after that, no process with the old config can begin on one of them. */
async function adoptInOrder(
  from: readonly NodeSequence[],
  to: readonly NodeSequence[],
  base: number,
  generation: number,
): Promise<void> {
  const oldAddresses = new Set(from.map(({ node }) => node.address));
  const isOld = ({ node }: NodeSequence) => oldAddresses.has(node.address);
  await adoptAll(to.filter(isOld), base, generation);
  await adoptAll(
    to.filter((sequence) => !isOld(sequence)),
    base,
    generation,
  );
}

async function adoptAll(to: readonly NodeSequence[], base: number, generation: number): Promise<void> {
  const adopted = requireAnswers(await askNodes(to, (sequence) => sequence.adopt(base, generation)));
  for (const [{ node }, { whose, state, nodes, fingerprint }] of adopted)
    if (whose !== 'own' || state !== 'open')
      throw new NodeSetConflictError(
        state === 'closed'
          ? `node ${node.address} was closed by another hand-over meanwhile: run this one again`
          : `node ${node.address} mints keys for other nodes (${nodes}): reshard from those nodes first`,
        fingerprint,
      );
}
