import { systemTimer } from '../../../support/timer.js';
import { LAPSE, otherMove } from '../move/phase.js';
import { ENTER, LEAVE } from '../move/phase-scripts.js';
import type { Wire } from '../node-connection.js';
import { STATE } from '../reserved-keys.js';

/** How often a process says that it works as before, and learns whether it still may, ms. */
const BEAT = 250;

/** How often it looks while it waits for the beginning, ms. */
const WAIT = 20;

/** Which way a command goes: to the old owner, as before, or to the new one, once the key is there. */
export type Way = 'before' | 'moving';

/**
 * The way to the keys of one old node, as one process uses it. Before the resharding begins there, commands go to that
 * node as they always did, and the node knows that this process does so. It begins only when no process does any more:
 * one that is told so lets its commands end, signs off, and waits.
 */
export class Gate {
  readonly #wire: Wire;
  readonly #move: string;
  readonly #member: string;
  #way: Way | 'closed' = 'closed';
  /** When the node last knew of this process, at the earliest. */
  #known = Number.NEGATIVE_INFINITY;
  #inFlight = 0;
  #isClosed = false;
  #opening: Promise<Way> | undefined;
  #stopBeat = () => {};

  constructor(wire: Wire, move: string, member: string) {
    this.#wire = wire;
    this.#move = move;
    this.#member = member;
  }

  /** The way, if it is known without asking. */
  get way(): Way | undefined {
    if (this.#way === 'moving') return 'moving';
    // Half of what the node allows for: the rest is for the command to get there.
    const isKnown = performance.now() - this.#known < LAPSE / 2;
    return this.#way === 'before' && isKnown ? 'before' : undefined;
  }

  /** The way, once there is one. */
  open(): Promise<Way> {
    const { way } = this;
    if (way !== undefined) return Promise.resolve(way);
    this.#opening ??= this.#ask().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Runs a command that goes the old way; it counts until its answer is there. */
  track<T>(answer: T): T {
    this.#inFlight++;
    const end = () => {
      this.#inFlight--;
    };
    Promise.resolve(answer).then(end, end);
    return answer;
  }

  /** Signs off for good. What is sent nevertheless finds its way, and is forgotten by the node after a while. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopBeat();
    if (this.#known > 0)
      await this.#wire.run(SIGNING_OFF, LEAVE, [STATE], [this.#move, this.#member]).catch(() => {});
  }

  async #ask(): Promise<Way> {
    for (;;) {
      const phase = await this.#beat();
      if (phase === 'before' || phase === 'moving') return phase;
      await new Promise<void>((resolve) => {
        systemTimer.after(WAIT, resolve, false);
      });
    }
  }

  async #beat(): Promise<Way | 'waiting'> {
    const asked = performance.now();
    const reply = await this.#wire.run('signing on', ENTER, [STATE], [this.#move, this.#member]);
    const phase = String(reply[0]);
    if (this.#way === 'moving' || phase === 'moving' || phase === 'done') {
      this.#stopBeat();
      this.#way = 'moving';
      return 'moving';
    }
    if (phase === 'before') {
      this.#known = asked;
      this.#way = 'before';
      this.#stopBeat();
      if (!this.#isClosed) this.#stopBeat = systemTimer.after(BEAT, () => this.#beat().catch(() => {}), true);
      return 'before';
    }
    await this.#drain();
    if (phase === 'other') throw otherMove(this.#wire, reply[1]);
    return 'waiting';
  }

  /** Nothing new goes the old way; when all has been answered that did, the node may begin. */
  async #drain(): Promise<void> {
    this.#way = 'closed';
    this.#stopBeat();
    if (this.#inFlight === 0) await this.#wire.run(SIGNING_OFF, LEAVE, [STATE], [this.#move, this.#member]);
    else this.#stopBeat = systemTimer.after(WAIT, () => this.#beat().catch(() => {}), true);
  }
}

const SIGNING_OFF = 'signing off';
