import { StoreError } from '../../../errors.js';
import {
  BEGIN_RESHARD,
  CANCEL_RESHARD,
  CHECK_STATE,
  FINISH_RESHARD,
  PREPARE_RESHARD,
  STOP_RESHARD,
} from '../../../redis/scripts.js';
import { pause, systemTimer } from '../../../support/timer.js';
import type { ReshardContext } from '../context.js';
import type { NodeConnection } from '../node-connection.js';
import { STATE_KEY } from '../reserved-keys.js';
import { behindError, commonPhaseOf, findBehind, misfitError, requireFit } from './compare-states.js';
import { type NodeState, type ReshardPhase, readState, readStates } from './node-state.js';

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
  for (const behind of findBehind(states))
    if (behind.isOlder && !acceptOlder.includes(behind.name)) throw behindError(behind);
  return states;
}

/**
 * Begins the resharding on all nodes. Afterwards every map in transition looks for a key at its new owner, and all commands
 * that went to old owners before have finished. A resharding that is done stays done.
 *
 * @param settings the settings that a later run has to use, as JSON
 * @returns the number of processes that were silent for so long that they count as dead
 */
export async function beginReshard(
  context: ReshardContext,
  signal: AbortSignal | undefined,
  { acceptOlder = [], settings = '{}' }: { acceptOlder?: readonly string[]; settings?: string } = {},
): Promise<number> {
  const states = await readCheckedStates(context, acceptOlder);
  const { nodes, reshardId, description, gone } = context;
  const common = commonPhaseOf(states);
  if (common === 'stopping') throw isGivenUpError(context);
  const round = Math.max(0, ...states.map((state) => state.round));
  const next = common === 'before' || common === 'aborted' ? round + 1 : Math.max(1, round);
  try {
    for (const [i, node] of nodes.entries()) {
      const { server } = states[i] as NodeState;
      const args = [description, next, settings, JSON.stringify([...gone]), server];
      const reply = await node.run(BEGINNING, PREPARE_RESHARD, [STATE_KEY], [reshardId, ...args]);
      if (String(reply[0]) === 'restarted')
        throw new StoreError(`node ${node.name}: ${BEGINNING} failed: it was started again. Run it again`);
      requireOwnPhase(context, node, reply);
    }
    await acceptStates(context, states);
    const clusters = nodes.filter(({ isCluster }) => isCluster);
    for (const node of clusters) await beginOnCluster(context, node, signal);
    const dead = await Promise.all(nodes.map((node) => beginOn(context, node, signal)));
    return Math.max(0, ...dead);
  } catch (error) {
    // Processes wait for the beginning: this tells them to stop waiting. A node that does not get the message forgets the
    // announcement by itself.
    await Promise.allSettled(
      nodes.map((node) => node.run(BEGINNING, CANCEL_RESHARD, [STATE_KEY], [reshardId])),
    );
    throw error;
  }
}

/**
 * Gives the resharding up on all nodes. Afterwards every map in transition looks for a key at its old owner, and all commands
 * that went to new owners have finished. This cannot be taken back.
 *
 * @returns the number of processes that were silent for so long that they count as dead
 */
export async function stopReshard(
  context: ReshardContext,
  signal: AbortSignal | undefined,
  acceptOlder: readonly string[] = [],
): Promise<number> {
  const states = await readCheckedStates(context, acceptOlder);
  const round = Math.max(1, ...states.map((state) => state.round));
  // All nodes stop giving keys away before the first of them takes keys back.
  for (const node of context.nodes) await stopOn(context, node, round);
  await acceptStates(context, states);
  const dead = await Promise.all(
    context.nodes.map(async (node) => {
      let lapsed = 0;
      await drain(node, STOPPING, signal, async () => {
        const reply = await stopOn(context, node, round);
        lapsed += reply.dead;
        return reply.phase === 'stopping' ? reply.alive : 'over';
      });
      return lapsed;
    }),
  );
  return Math.max(0, ...dead);
}

/** Tells one node that the resharding is given up, and lets its keys go back as soon as no process uses it as a new owner. */
export async function stopOn(context: ReshardContext, node: NodeConnection, round: number) {
  const { reshardId, description, gone } = context;
  const args = [
    reshardId,
    MEMBER_TIMEOUT,
    description,
    round,
    gone.size > 0 ? JSON.stringify([...gone]) : '',
  ];
  const reply = await node.run(STOPPING, STOP_RESHARD, [STATE_KEY], args);
  const phase = requireOwnPhase(context, node, reply);
  return { phase, alive: Number(reply[2]), dead: Number(reply[3]) };
}

/**
 * Records on all nodes that all keys have been moved, or that all keys are back.
 *
 * @throws StoreError naming a node that was started again since its keys were moved, and may have lost some of them
 */
export async function finishReshard(
  context: ReshardContext,
  last: 'done' | 'aborted' = 'done',
): Promise<void> {
  const restarted = (await readCheckedStates(context)).find(({ isChecked }) => !isChecked);
  if (restarted !== undefined) throw restartedError(restarted.name);
  const { nodes, reshardId } = context;
  await Promise.all(
    nodes.map(async (node) => {
      const reply = await node.run(ENDING, FINISH_RESHARD, [STATE_KEY], [reshardId, last]);
      if (Number(reply[2]) !== 1) throw restartedError(node.name);
    }),
  );
}

const ENDING = 'ending the resharding';

function restartedError(name: string): StoreError {
  return new StoreError(`node ${name}: ${ENDING} failed: it was started again. Run it again`);
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

async function acceptStates(context: ReshardContext, states: readonly NodeState[]): Promise<void> {
  const behind = new Map(findBehind(states).map((one) => [one.name, one.known]));
  await Promise.all(
    context.nodes.map(async (node, i) => {
      const state = states[i] as NodeState;
      if (!state.isChecked) await acceptState(context, node, state, behind.get(node.name));
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
  signal: AbortSignal | undefined,
): Promise<void> {
  await beginOn(context, node, signal);
  const state = await readState(node, context.reshardId);
  await acceptState(context, node, state, { puts: 1, drops: 1 });
}

/** Waits until no process uses the node as before, and begins. Returns the number of dead processes. */
async function beginOn(
  context: ReshardContext,
  node: NodeConnection,
  signal: AbortSignal | undefined,
): Promise<number> {
  let dead = 0;
  await drain(node, BEGINNING, signal, async () => {
    const args = [context.reshardId, MEMBER_TIMEOUT];
    const reply = await node.run(BEGINNING, BEGIN_RESHARD, [STATE_KEY], args);
    const phase = requireOwnPhase(context, node, reply);
    dead += Number(reply[3]);
    if (phase === 'moving' || phase === 'done') return 'over';
    // Another process has cancelled it, or this process was stopped for so long that the node forgot the announcement.
    if (phase !== 'preparing')
      throw new StoreError(`node ${node.name}: ${BEGINNING} failed: it was cancelled. Run it again`);
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
        `node ${node.name}: ${operation} failed: ${alive} processes still run commands there after ` +
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
  if (own === 'other' || (own === 'misfit' && context.sources.has(node.name)))
    throw misfitError(context, node.name, own, String(about));
  return own;
}
