import { NOTE_PROGRESS } from '../redis/scripts.js';
import type { ReshardContext } from './context.js';
import type { ReshardProgress } from './options.js';
import { STATE_KEY } from './redis-keys.js';

/** The shortest time between two notes, ms. */
const INTERVAL = 1000;

/** Notes on all nodes how far a run is, so that whoever asks a node can tell. */
export class ProgressNotes {
  readonly #context: ReshardContext;
  readonly #round: number;
  #nextAt = 0;
  #isNoting = false;

  constructor(context: ReshardContext, round: number) {
    this.#context = context;
    this.#round = round;
  }

  /** Nobody waits for a note, and a note that fails stops nothing: the steps of the move meet the same node. */
  add(progress: ReshardProgress): void {
    const now = performance.now();
    if (this.#isNoting || now < this.#nextAt) return;
    this.#nextAt = now + INTERVAL;
    this.#isNoting = true;
    const { nodes, reshardId } = this.#context;
    const args = [reshardId, this.#round, JSON.stringify(progress)];
    void Promise.allSettled(
      nodes.map((node) => node.run('noting the progress', NOTE_PROGRESS, [STATE_KEY], args)),
    ).then(() => {
      this.#isNoting = false;
    });
  }
}
