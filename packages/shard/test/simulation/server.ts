import type { SeededRandom } from '../../../idsmith/test/simulation/random.ts';
import type { Timeline } from '../../../idsmith/test/simulation/timeline.ts';
import type { NodeModel, SequenceHash, Spans } from './node-model.ts';

/** Few variants in a millisecond, so that milliseconds fill, and sets that mint the same ones meet. */
const NARROW: Spans = {
  fresh: { first: 0, last: 3 },
  handOver: { first: 1612, last: 1615 },
  freshUnsure: { first: 3224, last: 3227 },
  handOverUnsure: { first: 3534, last: 3537 },
};

/** How a server comes back from a restart. */
export type Restart = 'whole' | 'empty' | 'older';

/** A Redis server of a simulated world. */
export class Server {
  readonly node: NodeModel;
  readonly address: string;
  isUp = true;
  /** It is lost, and nobody reaches it ever again. */
  isGone = false;
  /** How far its clock is ahead of the time, ms. */
  offset = 0;
  #restarts = 0;
  /** Earlier states of its sequence. */
  readonly #snapshots: (SequenceHash | undefined)[] = [undefined];

  constructor(number: number, timeline: Timeline, Node: typeof NodeModel) {
    this.address = `10.0.0.${number}:6379`;
    this.node = new Node(`${this.address} 0`, () => timeline.now + this.offset);
    this.node.spans = NARROW;
  }

  takeSnapshot(): void {
    this.#snapshots.push(this.node.hash);
  }

  /**
   * Restarts, or lets a replica take over. Either takes a new replication id.
   *
   * @param mayReturn tells whether the sequence of an earlier state may come back
   */
  restart(how: Restart, random: SeededRandom, mayReturn: (sequence: SequenceHash) => boolean): void {
    this.node.server = `${this.address} ${++this.#restarts}`;
    if (how === 'empty') this.node.hash = undefined;
    if (how === 'older')
      this.node.hash = random.pick(this.#snapshots.filter((one) => one === undefined || mayReturn(one)));
  }
}
