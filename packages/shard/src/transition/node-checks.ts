import { StoreError, withTimeout } from 'idsmith/internal';
import { requireSameCluster } from '../reshard/cluster-identity.js';
import {
  behindError,
  type CommonPhase,
  commonPhaseOf,
  findBehind,
  findOutdated,
  outdatedError,
  requireFit,
} from '../reshard/compare-states.js';
import type { ReshardContext } from '../reshard/context.js';
import type { NodeConnection } from '../reshard/node-connection.js';
import { type NodeState, readState } from '../reshard/node-state.js';
import { acceptState } from '../reshard/phase.js';

/** The longest time that a node may take to tell its state, ms. */
const TIMEOUT = 2000;

/** Hears what the nodes tell about the whole resharding. */
export interface CheckEvents {
  /** A node that was to be checked is not needed, because the resharding has ended. */
  ended(): void;
  /** A node takes part in a resharding that does not fit this one. */
  mismatched(): void;
}

/**
 * Compares what the nodes know of a resharding. A node that was started again is used only after its state has been compared
 * with those of the other nodes: it may have come back with an older state, or empty.
 */
export class NodeChecks {
  readonly #context: ReshardContext;
  readonly events: CheckEvents;
  #asking: Promise<NodeState[]> | undefined;

  constructor(context: ReshardContext, events: CheckEvents) {
    this.#context = context;
    this.events = events;
  }

  /**
   * Asks all nodes for the phase. Learns which nodes are gone.
   *
   * @returns `done` as soon as a node says so that has not been started again since, even if others do not answer
   * @throws StoreError when the last resharding on a node does not fit this one
   */
  async commonPhase(): Promise<CommonPhase> {
    const states = await this.#ask();
    return commonPhaseOf(states);
  }

  /**
   * Makes sure that the state of a node may be used.
   *
   * @returns the phase that all nodes together know. After the end the node may keep the state of a backup: nobody asks for it any more
   * @throws StoreError when the node came back with less than the others know of it, or too few nodes answer to tell
   */
  async check(node: NodeConnection): Promise<CommonPhase> {
    const states = await this.#ask();
    const phase = commonPhaseOf(states);
    const state = states.find(({ address }) => address === node.address);
    if (state === undefined || state.isChecked) return phase;
    if (phase === 'done') {
      if (state.phase === 'done') await acceptState(this.#context, node, state);
      else this.events.ended();
      return phase;
    }
    const outdated = findOutdated(states).find((one) => one.state === state);
    if (outdated !== undefined) throw outdatedError(outdated);
    const { nodes } = this.#context;
    const silent = nodes.filter(({ address }) => !states.some((other) => other.address === address));
    if (states.length * 2 <= nodes.length)
      throw silenceError(node, silent, 'nobody can tell whether a resharding has begun');
    const behind = findBehind(states).find(({ address }) => address === node.address);
    if (behind !== undefined) throw behindError(behind);
    const witnesses = silent.filter((other) => this.#exchangesKeys(node, other));
    if (witnesses.length > 0 && hasBegun(states))
      throw silenceError(
        node,
        witnesses,
        'nobody else can tell whether its data is older than the moves of keys',
      );
    await acceptState(this.#context, node, state);
    return phase;
  }

  /** True if keys may have moved between the two nodes. Each notes what it knows of the other, and no other node does. */
  #exchangesKeys({ address }: NodeConnection, other: NodeConnection): boolean {
    const { sources, targets } = this.#context;
    return (
      (sources.has(address) && targets.has(other.address)) ||
      (targets.has(address) && sources.has(other.address))
    );
  }

  /** Calls at the same time share one question. */
  #ask(): Promise<NodeState[]> {
    this.#asking ??= this.#askAll().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #askAll(): Promise<NodeState[]> {
    const context = this.#context;
    const states: NodeState[] = [];
    await new Promise<void>((resolve) => {
      const asked = context.nodes.map(async (node) => {
        const state = await withTimeout(readState(node, context.reshardId), TIMEOUT).catch(() => undefined);
        if (state === undefined) return;
        states.push(state);
        // Nothing is left to find out, so nobody waits for a node that was switched off.
        if (state.phase === 'done' && state.isChecked) resolve();
      });
      void Promise.all(asked).then(() => resolve());
    });
    requireFit(context, states);
    await requireSameCluster(context, states);
    for (const { gone } of states) context.addGone(gone);
    return states;
  }
}

/** True if keys may have moved: a resharding begins on all nodes before the first key moves. */
function hasBegun(states: readonly NodeState[]): boolean {
  const phase = commonPhaseOf(states);
  return phase !== 'before' && phase !== 'preparing';
}

function silenceError(node: NodeConnection, silent: readonly NodeConnection[], why: string): StoreError {
  const names = silent.map(({ address }) => address).join(', ');
  return new StoreError(
    `node ${node.address} was started again, and nodes ${names} do not answer: ${why}. Start these nodes, and try again`,
  );
}
