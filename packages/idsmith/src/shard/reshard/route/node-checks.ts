import { StoreError } from '../../../errors.js';
import { withTimeout } from '../../../support/timeout.js';
import type { ReshardContext } from '../context.js';
import {
  behindError,
  type CommonPhase,
  commonPhaseOf,
  findBehind,
  requireFit,
} from '../move/compare-states.js';
import { type NodeState, readState } from '../move/node-state.js';
import { acceptState } from '../move/phase.js';
import type { NodeConnection } from '../node-connection.js';

/** The longest time that a node may take to tell its state, ms. */
const TIMEOUT = 2000;

/**
 * Compares what the nodes know of a resharding. A node that was started again is used only after its state has been compared
 * with those of the other nodes: it may have come back with an older state, or empty.
 */
export class NodeChecks {
  readonly #context: ReshardContext;
  #asking: Promise<NodeState[]> | undefined;

  constructor(context: ReshardContext) {
    this.#context = context;
  }

  /**
   * Asks all nodes for the phase. Learns which nodes are gone.
   *
   * @returns `done` as soon as one node says so, even if others do not answer
   * @throws StoreError when the last resharding on a node does not fit this one
   */
  async commonPhase(): Promise<CommonPhase> {
    const states = await this.#ask();
    return commonPhaseOf(states);
  }

  /**
   * Makes sure that the state of a node may be used.
   *
   * @throws StoreError when the node came back with less than the others know of it, or too few nodes answer to tell
   */
  async check(node: NodeConnection): Promise<void> {
    const states = await this.#ask();
    if (commonPhaseOf(states) === 'done') return;
    const state = states.find(({ name }) => name === node.name);
    if (state === undefined || state.isChecked) return;
    const { nodes } = this.#context;
    if (states.length * 2 <= nodes.length) {
      const silent = nodes.filter(({ name }) => !states.some((other) => other.name === name));
      throw new StoreError(
        `node ${node.name} was started again, and nodes ${silent.map(({ name }) => name).join(', ')} do not answer: ` +
          'nobody can tell whether a resharding has begun. Start these nodes, and try again',
      );
    }
    const behind = findBehind(states).find(({ name }) => name === node.name);
    if (behind !== undefined) throw behindError(behind);
    await acceptState(this.#context, node, state);
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
        if (state.phase === 'done') resolve();
      });
      void Promise.all(asked).then(() => resolve());
    });
    requireFit(context, states);
    for (const { gone } of states) for (const name of gone) context.gone.add(name);
    return states;
  }
}
