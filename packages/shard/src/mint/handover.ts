import { InvalidOptionError, report, StoreError } from 'idsmith/internal';
import { type Answers, nextGeneration } from './next-generation.js';
import {
  askNodes,
  type NodeSequence,
  type NodeSequenceStatus,
  NodeSetConflictError,
  requireAnswers,
} from './node-sequence.js';

/** The number of times that a handover starts again when a node loses its sequence in the middle. */
const MAX_ROUNDS = 5;

/** Nodes that a handover goes on without, or in spite of what they have forgotten. */
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
 * Hands minting over from the nodes of `from` to the nodes of `to`. The two never mint at the same time: nodes that only `to` has
 * are reserved first, so that processes with the new config wait. Then all old sequences are closed, and seen to be closed, before
 * the first new one opens, beyond everything that either node set has minted. A handover that was killed at any point continues
 * when it is run again. From then on, processes with the old config fail with a {@link NodeSetConflictError}.
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
    const { generation, old: seenOld, hasBegun } = await nextGeneration(left, to, acceptOlder);
    requireClosable(seenOld, next.fingerprint);
    const taking = left.length > 0 ? [] : await requireHandedOverTo(old.fingerprint, to);
    const added = to.filter((sequence) => !isAmong(from, sequence));
    const taken = await reserveAll(added, generation);
    if (taken !== undefined) {
      // Old nodes may be closed since an earlier run. New nodes stay reserved then.
      if (!hasBegun) await releaseNodes(added);
      throw taken;
    }
    const closed = [...taking, ...(await closeAll(left, next.fingerprint, generation - 1))];
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
async function requireHandedOverTo(lost: string, to: readonly NodeSequence[]): Promise<NodeSequenceStatus[]> {
  const answers = requireAnswers(await askNodes(to, (sequence) => sequence.readStatus()));
  for (const [{ node }, { whose, state, next, nodes }] of answers)
    if (whose === 'own' && state === 'closed' && next !== lost)
      throw new NodeSetConflictError(
        `node ${node.address} has handed minting over to other nodes than those that are gone (it was in ${nodes}): finish that handover first`,
        next,
      );
  return answers.map(([, status]) => status);
}

/**
 * Keeps new nodes for the node set that takes over. Nobody begins there by itself any more, so a process with the new config cannot
 * mint in the gap of a handover that is killed.
 *
 * @returns the error if another node set has one of the nodes
 */
async function reserveAll(
  sequences: readonly NodeSequence[],
  generation: number,
): Promise<NodeSetConflictError | undefined> {
  const reserved = requireAnswers(await askNodes(sequences, (sequence) => sequence.reserve(generation)));
  const taken = reserved.find(
    ([, { whose, state }]) => whose !== 'own' && (state === 'open' || state === 'reserved'),
  );
  return taken && takenError(...taken);
}

/** Gives new nodes free that a handover has reserved, before it closed an old one. */
export async function releaseNodes(sequences: readonly NodeSequence[]): Promise<void> {
  requireAnswers(await askNodes(sequences, (sequence) => sequence.withdraw('reserved')));
}

function takenError(
  { node }: NodeSequence,
  { state, nodes, fingerprint }: NodeSequenceStatus,
): NodeSetConflictError {
  return new NodeSetConflictError(
    state === 'reserved'
      ? `node ${node.address} waits for a resharding to ${nodes} that has begun: run that one to its end, or give it up, first`
      : `node ${node.address} mints keys for other nodes (${nodes}): reshard from those nodes first`,
    fingerprint,
  );
}

async function closeAll(
  from: readonly NodeSequence[],
  next: string,
  generation: number,
): Promise<NodeSequenceStatus[]> {
  const closed = requireAnswers(await askNodes(from, (sequence) => sequence.close(next, generation)));
  requireClosable(closed, next);
  return closed.map(([, status]) => status);
}

/** @throws NodeSetConflictError naming a node that a third node set has, or that was handed over to one */
function requireClosable(answers: Answers, next: string): void {
  for (const [{ node }, status] of answers) {
    const { whose, state, nodes, fingerprint } = status;
    if (whose === 'missing' || state === 'pending' || isClosedFor(status, next)) continue;
    if (whose === 'own' && state !== 'closed') continue;
    throw new NodeSetConflictError(
      `node ${node.address} belongs to a third set of nodes (${nodes}): finish that handover first`,
      state === 'closed' && whose === 'own' ? status.next : fingerprint,
    );
  }
}

/** Tells whether a sequence is closed for the next node set, or already taken over by it. */
function isClosedFor(
  { whose, state, next, fingerprint }: NodeSequenceStatus,
  nextFingerprint: string,
): boolean {
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
  await adoptAll(
    to.filter((sequence) => isAmong(from, sequence)),
    base,
    generation,
  );
  await adoptAll(
    to.filter((sequence) => !isAmong(from, sequence)),
    base,
    generation,
  );
}

function isAmong(sequences: readonly NodeSequence[], { node }: NodeSequence): boolean {
  return sequences.some((other) => other.node.address === node.address);
}

async function adoptAll(to: readonly NodeSequence[], base: number, generation: number): Promise<void> {
  const adopted = requireAnswers(await askNodes(to, (sequence) => sequence.adopt(base, generation)));
  for (const [sequence, status] of adopted) {
    if (status.whose === 'own' && status.state === 'open') continue;
    if (status.state !== 'closed') throw takenError(sequence, status);
    throw new NodeSetConflictError(
      `node ${sequence.node.address} was closed by another handover meanwhile: run this one again`,
      status.fingerprint,
    );
  }
}
