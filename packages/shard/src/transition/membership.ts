import { pause, systemTimer } from 'idsmith/internal';
import { SIGN_OFF, SIGN_ON } from '../redis/scripts.js';
import { isMismatch, mismatchError } from '../reshard/compare-states.js';
import type { ReshardContext } from '../reshard/context.js';
import type { NodeConnection } from '../reshard/node-connection.js';
import type { ReshardPhase } from '../reshard/node-state.js';
import { MEMBER_TIMEOUT, stopOn } from '../reshard/phase.js';
import { STATE_KEY } from '../reshard/redis-keys.js';
import type { NodeChecks } from './node-checks.js';

/** The time between two heartbeats of a process, ms. Each heartbeat also learns of an announcement. */
const HEARTBEAT = 250;

/** The time between two questions while the process waits for the next phase, ms. */
const WAIT = 20;

/** The use of a node: as the old owner of keys, or as their new owner. */
export type NodeUse = 'old owner' | 'new owner';

/** A node is open for its use, or it was left: the other owner has to be used. */
export type Standing = 'open' | 'left';

const PREFIX = { 'old owner': 'member:', 'new owner': 'user:' } as const;

/** The phases in which a node is open for a use, and those in which it was left. In other phases, processes wait. */
const STANDINGS: Readonly<Record<NodeUse, Readonly<Partial<Record<ReshardPhase, Standing>>>>> = {
  'old owner': { before: 'open', returning: 'open', aborted: 'open', moving: 'left', done: 'left' },
  'new owner': {
    before: 'open',
    mismatch: 'open',
    preparing: 'open',
    moving: 'open',
    done: 'open',
    returning: 'left',
    aborted: 'left',
  },
};

/**
 * The membership of one process on one node, for one use of the node. While the node is open for this use, commands go there, and
 * the process is signed on. The next phase begins when no process is signed on any more. A process that learns of an
 * announcement lets its commands finish, signs off, and waits for the next phase.
 */
export class Membership {
  readonly use: NodeUse;
  readonly #node: NodeConnection;
  readonly #context: ReshardContext;
  readonly #checks: NodeChecks;
  readonly #processId: string;
  #phase: ReshardPhase | undefined;
  #round = 0;
  #standing: Standing | 'waiting' = 'waiting';
  /** The time of the last heartbeat that the node has certainly seen. */
  #signedOnAt = Number.NEGATIVE_INFINITY;
  #inFlight = 0;
  #isClosed = false;
  #opening: Promise<Standing> | undefined;
  #stopHeartbeat = () => {};

  constructor(
    use: NodeUse,
    node: NodeConnection,
    context: ReshardContext,
    checks: NodeChecks,
    processId: string,
  ) {
    this.use = use;
    this.#node = node;
    this.#context = context;
    this.#checks = checks;
    this.#processId = processId;
  }

  /** The round of the resharding in the last answer of the node. */
  get round(): number {
    return this.#round;
  }

  /** The phase in the last answer of the node. */
  get phase(): ReshardPhase | undefined {
    return this.#phase;
  }

  /** The standing of the node, if it is known without asking. */
  get standing(): Standing | undefined {
    if (this.#standing !== 'open') return this.#standing === 'left' ? 'left' : undefined;
    // Half of the timeout. The other half is for the command to reach the node.
    const isSignedOn = performance.now() - this.#signedOnAt < MEMBER_TIMEOUT / 2;
    return isSignedOn || this.#phase === 'done' ? 'open' : undefined;
  }

  /** Waits until the standing of the node is known. */
  open(): Promise<Standing> {
    const { standing } = this;
    if (standing !== undefined) return Promise.resolve(standing);
    this.#opening ??= this.#waitForStanding().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Asks the node again before its next use. */
  reopen(): void {
    if (this.#standing === 'left') this.#standing = 'waiting';
  }

  /** Counts a command to the node as in flight until its answer is there. */
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

  async #waitForStanding(): Promise<Standing> {
    for (;;) {
      const standing = await this.#signOn();
      if (standing !== 'waiting') return standing;
      await pause(systemTimer, WAIT, false);
    }
  }

  async #signOn(): Promise<Standing | 'waiting'> {
    const askedAt = performance.now();
    const reply = await this.#ask('signing on', SIGN_ON);
    const phase = String(reply[0]) as ReshardPhase;
    const isChecked = Number(reply[2]) === 1;
    this.#phase = phase;
    this.#round = Number(reply[3]);
    const hasOther = isMismatch(phase, this.use === 'old owner');
    const standing = hasOther || !isChecked ? undefined : STANDINGS[this.use][phase];
    this.#stopHeartbeat();
    // Before it signs off: keys that stay must not be used, either, when the other resharding begins.
    if (hasOther) this.#checks.events.mismatched();
    if (standing === undefined) await this.#drain();
    if (hasOther) throw mismatchError(this.#context, this.#node.address, phase, String(reply[1]));
    if (!isChecked && (await this.#checks.check(this.#node)) === 'done' && phase !== 'done')
      return this.#end();
    if (isChecked && phase === 'stopping') await stopOn(this.#context, this.#node, this.#round);
    // Without a standing, it waits since it has begun to drain. A later answer may be there already.
    if (standing !== undefined) this.#standing = standing;
    if (standing === 'open') this.#signedOnAt = askedAt;
    if (standing === 'open' && phase !== 'done' && !this.#isClosed) this.#signOnLater(HEARTBEAT);
    return this.#standing;
  }

  /** The other nodes know that the resharding has ended. A node with the state of a backup never learns it by itself. */
  #end(): Standing {
    this.#phase = 'done';
    this.#standing = STANDINGS[this.use].done as Standing;
    return this.#standing;
  }

  /** Sends no more commands to the node, and signs off when all earlier ones have been answered. */
  async #drain(): Promise<void> {
    this.#standing = 'waiting';
    if (this.#inFlight === 0) await this.#signOff();
    else this.#signOnLater(WAIT);
  }

  #signOnLater(ms: number): void {
    this.#stopHeartbeat = systemTimer.after(ms, () => this.#signOn().catch(() => {}), true);
  }

  async #signOff(): Promise<void> {
    await this.#ask('signing off', SIGN_OFF);
  }

  #ask(operation: string, script: string): Promise<unknown[]> {
    const args = [this.#context.reshardId, this.#processId, PREFIX[this.use]];
    return this.#node.run(operation, script, [STATE_KEY], args);
  }
}
