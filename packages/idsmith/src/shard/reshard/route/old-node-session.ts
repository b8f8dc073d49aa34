import { SIGN_OFF, SIGN_ON } from '../../../redis/scripts.js';
import { systemTimer } from '../../../support/timer.js';
import { MEMBER_TIMEOUT, otherReshardError } from '../move/phase.js';
import type { NodeConnection } from '../node-connection.js';
import { STATE_KEY } from '../reserved-keys.js';

/** The time between two heartbeats of a process, ms. Each heartbeat also learns whether the resharding is announced. */
const HEARTBEAT = 250;

/** The time between two questions while the process waits for the resharding to begin, ms. */
const WAIT = 20;

/** The node that a command goes to: the old owner before the resharding begins, the new owner afterwards. */
export type Destination = 'old owner' | 'new owner';

/**
 * The session of one process on one old node. Before the resharding begins, commands go to that node, and the process is
 * signed on there. The resharding begins when no process is signed on any more. A process that learns of the announcement
 * lets its commands finish, signs off, and waits for the beginning.
 */
export class OldNodeSession {
  readonly #node: NodeConnection;
  readonly #reshardId: string;
  readonly #processId: string;
  #destination: Destination | 'waiting' = 'waiting';
  /** The time of the last heartbeat that the node has certainly seen. */
  #signedOnAt = Number.NEGATIVE_INFINITY;
  #inFlight = 0;
  #isClosed = false;
  #opening: Promise<Destination> | undefined;
  #stopHeartbeat = () => {};

  constructor(node: NodeConnection, reshardId: string, processId: string) {
    this.#node = node;
    this.#reshardId = reshardId;
    this.#processId = processId;
  }

  /** The destination of commands, if it is known without asking the node. */
  get destination(): Destination | undefined {
    if (this.#destination === 'new owner') return 'new owner';
    // Half of the timeout. The other half is for the command to reach the node.
    const isSignedOn = performance.now() - this.#signedOnAt < MEMBER_TIMEOUT / 2;
    return this.#destination === 'old owner' && isSignedOn ? 'old owner' : undefined;
  }

  /** Waits until the destination of commands is known. */
  open(): Promise<Destination> {
    const { destination } = this;
    if (destination !== undefined) return Promise.resolve(destination);
    this.#opening ??= this.#waitForDestination().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Counts a command to the old owner as in flight until its answer is there. */
  track<T>(answer: T): T {
    this.#inFlight++;
    const end = () => {
      this.#inFlight--;
    };
    Promise.resolve(answer).then(end, end);
    return answer;
  }

  /** Signs off and ends the heartbeat. Later commands still work: the process signs on for each without a heartbeat. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopHeartbeat();
    if (this.#signedOnAt > 0) await this.#signOff().catch(() => {});
  }

  async #waitForDestination(): Promise<Destination> {
    for (;;) {
      const destination = await this.#signOn();
      if (destination !== 'waiting') return destination;
      await new Promise<void>((resolve) => {
        systemTimer.after(WAIT, resolve, false);
      });
    }
  }

  async #signOn(): Promise<Destination | 'waiting'> {
    const askedAt = performance.now();
    const reply = await this.#node.run(
      'signing on',
      SIGN_ON,
      [STATE_KEY],
      [this.#reshardId, this.#processId],
    );
    const phase = String(reply[0]);
    if (this.#destination === 'new owner' || phase === 'moving' || phase === 'done') {
      this.#stopHeartbeat();
      this.#destination = 'new owner';
      return 'new owner';
    }
    if (phase === 'before') {
      this.#signedOnAt = askedAt;
      this.#destination = 'old owner';
      this.#stopHeartbeat();
      if (!this.#isClosed) this.#signOnLater(HEARTBEAT);
      return 'old owner';
    }
    await this.#drain();
    if (phase === 'other') throw otherReshardError(this.#node, reply[1]);
    return 'waiting';
  }

  /** Sends no more commands to the old owner, and signs off when all earlier ones have been answered. */
  async #drain(): Promise<void> {
    this.#destination = 'waiting';
    this.#stopHeartbeat();
    if (this.#inFlight === 0) await this.#signOff();
    else this.#signOnLater(WAIT);
  }

  #signOnLater(ms: number): void {
    this.#stopHeartbeat = systemTimer.after(ms, () => this.#signOn().catch(() => {}), true);
  }

  async #signOff(): Promise<void> {
    await this.#node.run('signing off', SIGN_OFF, [STATE_KEY], [this.#reshardId, this.#processId]);
  }
}
