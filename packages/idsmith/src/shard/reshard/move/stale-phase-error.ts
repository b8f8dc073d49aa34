import { StoreError } from '../../../errors.js';
import type { NodeConnection } from '../node-connection.js';
import type { ReshardPhase } from './node-state.js';

/** A node does not move keys of this resharding now: its phase is another one, or its state has to be checked first. */
export class StalePhaseError extends StoreError {
  readonly node: NodeConnection;
  readonly phase: ReshardPhase;
  readonly about: string;
  readonly isChecked: boolean;
  readonly round: number;

  constructor(
    node: NodeConnection,
    operation: string,
    [, phase, about, isChecked, round]: readonly unknown[],
  ) {
    const why =
      Number(isChecked) === 1
        ? `another resharding has begun there, or this one has ended (phase ${String(phase)}, ${String(about)})`
        : 'it was started again, and its state has to be checked: run the resharding again';
    super(`node ${node.address}: ${operation} failed: ${why}`);
    this.node = node;
    this.phase = String(phase) as ReshardPhase;
    this.about = String(about);
    this.isChecked = Number(isChecked) === 1;
    this.round = Number(round);
  }
}
