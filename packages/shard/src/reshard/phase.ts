import { pause, StoreError, systemTimer } from 'idsmith/internal';
import {
  BEGIN_RESHARD,
  CANCEL_RESHARD,
  CHECK_STATE,
  FINISH_RESHARD,
  PREPARE_RESHARD,
  STOP_RESHARD,
} from '../redis/scripts.js';
import { recordCluster, requireSameCluster } from './cluster-identity.js';
import {
  behindError,
  commonPhaseOf,
  findBehind,
  findOutdated,
  isMismatch,
  mismatchError,
  outdatedError,
  requireFit,
} from './compare-states.js';
import type { ReshardContext } from './context.js';
import type { NodeConnection } from './node-connection.js';
import { type NodeState, type ReshardPhase, readState, readStates } from './node-state.js';
import { STATE_KEY } from './redis-keys.js';

/** The silence after which a process with a map in transition counts as dead, ms. */
export const MEMBER_TIMEOUT = 10_000;

/** The longest time that processes may take to finish commands on nodes that they are about to leave, ms. */
const DRAIN_TIMEOUT = 30_000;

/** The time between two checks whether they have finished, ms. */
const DRAIN_POLL_INTERVAL = 20;

/**
 * Reads the states of all nodes, and checks that the resharding may go on with them. Changes nothing.
 *
 * @param acceptOlder names of nodes that may have come back with older data
 * @throws StoreError when a node does not answer, takes part in another resharding, or came back with older data
 */
export async function readCheckedStates(
  context: ReshardContext,
  acceptOlder: readonly string[] = [],
): Promise<NodeState[]> {
  const states = await readStates(context);
  requireFit(context, states);
  const [outdated] = findOutdated(states);
  if (outdated !== undefined) throw outdatedError(outdated);
  await requireSameCluster(context, states);
  // After a resharding was given up, new owners have nothing left to lose, and may be other ones than before.
  const isBack = commonPhaseOf(states) === 'aborted';
  for (const behind of findBehind(states)) {
    if (!behind.isOlder || acceptOlder.includes(behind.address)) continue;
    if (!isBack || context.sources.has(behind.address)) throw behindError(behind);
  }
  return states;
}

/** A resharding that has begun, or was given up, on all nodes. */
export interface ReshardRound {
  /** The round that every later step names. A process that was stopped until a later round has begun changes nothing. */
  readonly round: number;
  /** The number of processes that were silent for so long that they count as dead. */
  readonly lapsed: number;
}

/**
 * Begins the resharding on all nodes. Afterwards every map in transition looks for a key at its new owner, and all commands
 * that went to old owners before have finished. A resharding that is done stays done.
 *
 * @param settings the settings that a later run has to use, as JSON
 */
export async function beginReshard(
  context: ReshardContext,
  signal: AbortSignal | undefined,
  { acceptOlder = [], settings = '{}' }: { acceptOlder?: readonly string[]; settings?: string } = {},
): Promise<ReshardRound> {
  const states = await readCheckedStates(context, acceptOlder);
  const { nodes, reshardId, description, goneIds } = context;
  const common = commonPhaseOf(states);
  if (common === 'stopping') throw isGivenUpError(context);
  const round = roundToBegin(context, states);
  const older = common === 'aborted' ? [] : findBehind(states).filter(({ isOlder }) => isOlder);
  try {
    for (const [i, node] of nodes.entries()) {
      const { server } = states[i] as NodeState;
      const begun = older.some(({ address }) => address === node.address) ? 'begun' : '';
      const args = [description, round, settings, JSON.stringify(goneIds), server, begun];
      const reply = await node.run(BEGINNING, PREPARE_RESHARD, [STATE_KEY], [reshardId, ...args]);
      if (String(reply[0]) === 'restarted')
        throw new StoreError(`node ${node.address}: ${BEGINNING} failed: it was started again. Run it again`);
      if (String(reply[0]) === 'outdated') throw overtakenError(node, BEGINNING, String(reply[1]));
      requireOwnPhase(context, node, reply);
    }
    await acceptStates(context, states);
    await recordCluster(context);
    const clusters = nodes.filter(({ isCluster }) => isCluster);
    for (const node of clusters) await beginOnCluster(context, node, round, signal);
    const dead = await Promise.all(nodes.map((node) => beginOn(context, node, round, signal)));
    return { round, lapsed: Math.max(0, ...dead) };
  } catch (error) {
    // Processes wait for the beginning: this tells them to stop waiting. A node that does not get the message forgets the
    // announcement by itself.
    await Promise.allSettled(
      nodes.map((node) => node.run(BEGINNING, CANCEL_RESHARD, [STATE_KEY], [reshardId, round])),
    );
    throw error;
  }
}

/**
 * Gives the resharding up on all nodes. Afterwards every map in transition looks for a key at its old owner, and all commands
 * that went to new owners have finished. This cannot be taken back.
 */
export async function stopReshard(
  context: ReshardContext,
  signal: AbortSignal | undefined,
  acceptOlder: readonly string[] = [],
): Promise<ReshardRound> {
  const states = await readCheckedStates(context, acceptOlder);
  const round = Math.max(1, ...states.map((state) => state.round));
  // All nodes stop giving keys away before the first of them takes keys back. This also signs dead processes off.
  const first: number[] = [];
  for (const node of context.nodes) first.push((await stopOn(context, node, round)).dead);
  await acceptStates(context, states);
  const dead = await Promise.all(
    context.nodes.map(async (node, i) => {
      let lapsed = first[i] as number;
      await drain(node, STOPPING, signal, async () => {
        const reply = await stopOn(context, node, round);
        lapsed += reply.dead;
        return reply.phase === 'stopping' ? reply.alive : 'over';
      });
      return lapsed;
    }),
  );
  return { round, lapsed: Math.max(0, ...dead) };
}

/** Tells one node that the resharding is given up, and lets its keys go back as soon as no process uses it as a new owner. */
export async function stopOn(context: ReshardContext, node: NodeConnection, round: number) {
  const { reshardId, description, goneIds } = context;
  const args = [
    reshardId,
    MEMBER_TIMEOUT,
    description,
    round,
    goneIds.length > 0 ? JSON.stringify(goneIds) : '',
  ];
  const reply = await node.run(STOPPING, STOP_RESHARD, [STATE_KEY], args);
  const phase = requireOwnPhase(context, node, reply);
  return { phase, alive: Number(reply[2]), dead: Number(reply[3]) };
}

/**
 * Records on all nodes that all keys have been moved, or that all keys are back.
 *
 * @throws StoreError naming a node that was started again since its keys were moved, and may have lost some of them, or a node
 * where another process has given the resharding up, or begun it again
 */
export async function finishReshard(
  context: ReshardContext,
  round: number,
  last: 'done' | 'aborted' = 'done',
): Promise<void> {
  const restarted = (await readCheckedStates(context)).find(({ isChecked }) => !isChecked);
  if (restarted !== undefined) throw restartedError(restarted.address);
  const { nodes, reshardId } = context;
  await Promise.all(
    nodes.map(async (node) => {
      const reply = await node.run(ENDING, FINISH_RESHARD, [STATE_KEY], [reshardId, last, round]);
      const isOwn = Number(reply[3]) === round && [BEFORE_LAST[last], last].includes(String(reply[0]));
      if (!isOwn) throw overtakenError(node, ENDING, String(reply[1]));
      if (Number(reply[2]) !== 1) throw restartedError(node.address);
    }),
  );
}

const ENDING = 'ending the resharding';
const BEFORE_LAST = { done: 'moving', aborted: 'returning' };

function overtakenError({ address }: NodeConnection, operation: string, about: string): StoreError {
  return new StoreError(
    `node ${address}: ${operation} failed: another process has begun a resharding there meanwhile, or has given this one up ` +
      `(${about}). Nothing was changed. Run it again`,
  );
}

function restartedError(address: string): StoreError {
  return new StoreError(`node ${address}: ${ENDING} failed: it was started again. Run it again`);
}

/** Records that a node that was started again has been compared with the others. */
export async function acceptState(
  { reshardId }: ReshardContext,
  node: NodeConnection,
  { server }: NodeState,
  known = { puts: 0, drops: 0 },
): Promise<void> {
  await node.run(CHECKING, CHECK_STATE, [STATE_KEY], [reshardId, server, known.puts, known.drops]);
}

/** The error for a resharding whose keys go back to their old owners. */
export function isGivenUpError({ description }: ReshardContext): StoreError {
  return new StoreError(
    `the resharding ${description} was given up, and its keys go back: finish that with abortReshard (--abort)`,
  );
}

const CHECKING = 'checking the state of resharding';
const BEGINNING = 'beginning the resharding';
const STOPPING = 'giving the resharding up';

/**
 * The round to begin: a new one, or that of a resharding that goes on.
 *
 * @throws MismatchError when a later resharding has taken place on one of the nodes
 */
function roundToBegin(context: ReshardContext, states: readonly NodeState[]): number {
  const common = commonPhaseOf(states);
  const highest = Math.max(0, ...states.map(({ round }) => round));
  if (common === 'before' || common === 'aborted') return highest + 1;
  const later = states.find(({ phase, round }) => phase === 'mismatch' && round === highest);
  if (later !== undefined) throw mismatchError(context, later.address, 'mismatch', later.about);
  return highest;
}

async function acceptStates(context: ReshardContext, states: readonly NodeState[]): Promise<void> {
  const behind = new Map(findBehind(states).map((one) => [one.address, one.known]));
  await Promise.all(
    context.nodes.map(async (node, i) => {
      const state = states[i] as NodeState;
      if (!state.isChecked) await acceptState(context, node, state, behind.get(node.address));
    }),
  );
}

/**
 * Begins on a Redis Cluster, before any old owner begins. So a cluster that knows nothing of a resharding that old owners have begun
 * is another one. A cluster does not count its steps. Its numbers only tell that it has not lost its state.
 */
async function beginOnCluster(
  context: ReshardContext,
  node: NodeConnection,
  round: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  await beginOn(context, node, round, signal);
  const state = await readState(node, context.reshardId);
  await acceptState(context, node, state, { puts: 1, drops: 1 });
}

/** Waits until no process uses the node as before, and begins. Returns the number of dead processes. */
async function beginOn(
  context: ReshardContext,
  node: NodeConnection,
  round: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  let dead = 0;
  await drain(node, BEGINNING, signal, async () => {
    const args = [context.reshardId, MEMBER_TIMEOUT, round];
    const reply = await node.run(BEGINNING, BEGIN_RESHARD, [STATE_KEY], args);
    const phase = requireOwnPhase(context, node, reply);
    dead += Number(reply[3]);
    const isOwn = Number(reply[4]) === round;
    if (isOwn && (phase === 'moving' || phase === 'done')) return 'over';
    // Another process has cancelled it, or this process was stopped for so long that the node forgot the announcement.
    if (!isOwn || phase !== 'preparing')
      throw new StoreError(`node ${node.address}: ${BEGINNING} failed: it was cancelled. Run it again`);
    return Number(reply[2]);
  });
  return dead;
}

/** Calls `attempt` until it is over. Otherwise `attempt` returns the number of processes that still use the node. */
async function drain(
  node: NodeConnection,
  operation: string,
  signal: AbortSignal | undefined,
  attempt: () => Promise<number | 'over'>,
): Promise<void> {
  const until = performance.now() + DRAIN_TIMEOUT;
  for (;;) {
    signal?.throwIfAborted();
    const alive = await attempt();
    if (alive === 'over') return;
    if (performance.now() > until)
      throw new StoreError(
        `node ${node.address}: ${operation} failed: ${alive} processes still run commands there after ` +
          `${DRAIN_TIMEOUT / 1000} s. End these processes (blocking commands never end by themselves), or try again`,
      );
    await pause(systemTimer, DRAIN_POLL_INTERVAL, false);
  }
}

function requireOwnPhase(
  context: ReshardContext,
  node: NodeConnection,
  [phase, about]: readonly unknown[],
): ReshardPhase {
  const own = String(phase) as ReshardPhase;
  if (isMismatch(own, context.sources.has(node.address)))
    throw mismatchError(context, node.address, own, String(about));
  return own;
}
