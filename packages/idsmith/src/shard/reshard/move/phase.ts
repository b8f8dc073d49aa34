import { StoreError } from '../../../errors.js';
import {
  BEGIN_RESHARD,
  CANCEL_RESHARD,
  FINISH_RESHARD,
  PREPARE_RESHARD,
  READ_PHASE,
} from '../../../redis/scripts.js';
import { pause, systemTimer } from '../../../support/timer.js';
import type { ReshardContext } from '../context.js';
import type { NodeConnection } from '../node-connection.js';
import { STATE_KEY } from '../reserved-keys.js';

/** The silence after which a process with a map in transition counts as dead, ms. */
export const MEMBER_TIMEOUT = 10_000;

/** The longest time that processes may take to finish commands on old nodes, ms. */
const DRAIN_TIMEOUT = 30_000;

/** The time between two checks whether they have finished, ms. */
const DRAIN_POLL_INTERVAL = 20;

/** The phase of a resharding on one node. `other` stands for another resharding that is not finished. */
export type ReshardPhase = 'before' | 'preparing' | 'moving' | 'done' | 'other';

/**
 * Reads the phase of every node.
 *
 * @throws StoreError when a node does not answer, or another resharding is under way
 */
export async function readPhases({ nodes, reshardId }: ReshardContext): Promise<ReshardPhase[]> {
  return Promise.all(
    nodes.map(async (node) => phaseIn(node, await node.run(READING, READ_PHASE, [STATE_KEY], [reshardId]))),
  );
}

/**
 * Begins the resharding on all nodes. Afterwards every map in transition looks for a key at its new owner, and all commands
 * that went to old owners before have finished.
 *
 * @returns the number of processes that were silent for so long that they count as dead
 */
export async function beginReshard(
  { nodes, reshardId, description }: ReshardContext,
  signal: AbortSignal | undefined,
): Promise<number> {
  try {
    for (const node of nodes)
      phaseIn(node, await node.run(BEGINNING, PREPARE_RESHARD, [STATE_KEY], [reshardId, description]));
    const dead = await Promise.all(nodes.map((node) => beginOn(node, reshardId, signal)));
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

/** Records on all nodes that all keys have been moved. */
export async function finishReshard({ nodes, reshardId }: ReshardContext): Promise<void> {
  await Promise.all(
    nodes.map((node) => node.run('ending the resharding', FINISH_RESHARD, [STATE_KEY], [reshardId])),
  );
}

const READING = 'reading the state of resharding';
const BEGINNING = 'beginning the resharding';

/** Waits until no process uses the node as before, and begins. Returns the number of dead processes. */
async function beginOn(
  node: NodeConnection,
  reshardId: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  const until = performance.now() + DRAIN_TIMEOUT;
  for (let dead = 0; ; ) {
    signal?.throwIfAborted();
    const reply = await node.run(BEGINNING, BEGIN_RESHARD, [STATE_KEY], [reshardId, MEMBER_TIMEOUT]);
    const phase = phaseIn(node, reply);
    dead += Number(reply[3]);
    if (phase === 'moving') return dead;
    // Another process has cancelled it, or this process was stopped for so long that the node forgot the announcement.
    if (phase !== 'preparing')
      throw new StoreError(`node ${node.name}: ${BEGINNING} failed: it was cancelled. Run it again`);
    if (performance.now() > until)
      throw new StoreError(
        `node ${node.name}: ${BEGINNING} failed: ${Number(reply[2])} processes still run commands on old nodes after ` +
          `${DRAIN_TIMEOUT / 1000} s. End these processes (blocking commands never end by themselves), or try again`,
      );
    await pause(systemTimer, DRAIN_POLL_INTERVAL, false);
  }
}

function phaseIn(node: NodeConnection, [phase, description]: readonly unknown[]): ReshardPhase {
  if (String(phase) === 'other') throw otherReshardError(node, description);
  return String(phase) as ReshardPhase;
}

/** The error for a node that takes part in another resharding. */
export function otherReshardError(node: NodeConnection, description: unknown): StoreError {
  return new StoreError(
    `node ${node.name}: another resharding is not finished (${String(description)}): run that one again first`,
  );
}
