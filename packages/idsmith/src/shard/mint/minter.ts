import { base62Pair } from '../../encoding/base62.js';
import { ClockError, IdError, StoreError } from '../../errors.js';
import { writeKeys } from '../keys/codec.js';
import { type Bounds, boundsOf, proofOf } from './mint-bounds.js';
import { allFailed, mayAsk, type Request } from './mint-request.js';
import { Lane } from './minting-node.js';
import type { KeyRange, Mark, Minted, Ring } from './node-sequence.js';
import { admit, RingConflictError, refuseOther } from './open-sequences.js';
import { widthOf } from './variants.js';

/** How often minting on a node may find it closed or empty again right after it was opened. */
const MAX_ADMISSIONS = 5;

/** How often the other nodes may be found empty again right after they were opened. */
const MAX_ROUNDS = 20;

/** Why minting could not begin at all: no fault of the node that was asked. */
class NotAdmitted {
  readonly reason: unknown;

  constructor(reason: unknown) {
    this.reason = reason;
  }
}

/** What happens to nodes, for those who want to know. */
export interface MinterEvents {
  failed(mark: Mark, error: IdError): void;
}

/** Hands out the keys of a ring: gathers what is asked for, and takes it from the nodes in turn. */
export class Minter {
  readonly #lanes: readonly Lane[];
  readonly #ring: Ring;
  readonly #events: MinterEvents;
  #queue: Request[] = [];
  #turn: number;
  #isScheduled = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #admission: Promise<void> | undefined;
  /** A node was found in other hands: all are looked at before anything is minted again. */
  #isInDoubt = false;
  #closed: StoreError | undefined;

  constructor(marks: readonly Mark[], ring: Ring, events: MinterEvents) {
    this.#lanes = marks.map((mark) => new Lane(mark));
    this.#ring = ring;
    this.#events = events;
    // Processes that start together begin with different nodes.
    this.#turn = Math.floor(Math.random() * marks.length);
  }

  /** `count` keys of a type, ascending. */
  mint(type: number, count: number): Promise<string[]> {
    if (count === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      const suffix = base62Pair(type) as string;
      this.#queue.push({
        suffix,
        keys: [],
        left: count,
        above: 0,
        sleepUntil: 0,
        lane: undefined,
        failures: new Map(),
        resolve,
        reject,
      });
      this.#schedule();
    });
  }

  close(): void {
    this.#closed = new StoreError('the map was closed');
    clearTimeout(this.#timer);
    this.#rejectAll(this.#queue.splice(0), this.#closed);
  }

  /** Everything that is asked for before the next turn of the event loop goes together. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    clearTimeout(this.#timer);
    for (;;) {
      if (this.#queue.length === 0) return;
      if (this.#closed !== undefined) {
        this.#rejectAll(this.#queue.splice(0), this.#closed);
        return;
      }
      const now = performance.now();
      const first = this.#queue.find(({ sleepUntil }) => sleepUntil <= now);
      const lane = first && this.#choose(first, now);
      if (lane === undefined) {
        this.#wakeLater(now);
        return;
      }
      const isFor = (request: Request) => request.sleepUntil <= now && mayAsk(request, lane);
      const batch = this.#queue.filter(isFor);
      this.#queue = this.#queue.filter((request) => !isFor(request));
      void this.#run(lane, batch);
    }
  }

  /** The next node in turn that is free and well; one that has failed lately if there is no other. */
  #choose(request: Request, now: number): Lane | undefined {
    const size = this.#lanes.length;
    const inTurn = Array.from({ length: size }, (_, i) => this.#lanes[(this.#turn + i) % size] as Lane);
    const left = inTurn.filter((lane) => mayAsk(request, lane));
    const well = left.filter(({ restUntil }) => restUntil <= now);
    const lane = (well.length > 0 ? well : left).find(({ isBusy, waitUntil }) => !isBusy && waitUntil <= now);
    if (lane !== undefined) this.#turn = (this.#lanes.indexOf(lane) + 1) % size;
    return lane;
  }

  /** When all nodes are busy the end of a round trip goes on; when somebody waits for keys to be free, time does. */
  #wakeLater(now: number): void {
    let next = Number.POSITIVE_INFINITY;
    const consider = (time: number) => {
      if (time > now && time < next) next = time;
    };
    for (const { isBusy, waitUntil } of this.#lanes) if (!isBusy) consider(waitUntil);
    for (const { sleepUntil } of this.#queue) consider(sleepUntil);
    if (Number.isFinite(next)) this.#timer = setTimeout(() => this.#pump(), Math.ceil(next - now));
  }

  async #run(lane: Lane, batch: Request[]): Promise<void> {
    lane.isBusy = true;
    try {
      if (this.#isInDoubt) await this.#admit();
      // Not Math.max(...): a batch may be larger than a list of arguments.
      const count = batch.reduce((sum, { left }) => sum + left, 0);
      const above = batch.reduce((highest, request) => Math.max(highest, request.above), 0);
      const bounds = await this.#bounds(lane);
      const sentAt = performance.now();
      const minted = await lane.mark.mint(count, above, bounds);
      lane.answered(minted.kind === 'refused' ? undefined : minted.proof, sentAt);
      await this.#deal(lane, batch, minted);
      lane.succeeded();
    } catch (error) {
      this.#fail(lane, batch, error);
    }
    lane.isBusy = false;
    this.#queue = [...batch.filter(({ left }) => left > 0), ...this.#queue];
    this.#pump();
  }

  /**
   * The milliseconds that the other nodes vouch for, after asking those that were not heard of lately and letting
   * those mint again that have forgotten. `undefined` while one is silent.
   */
  async #bounds(lane: Lane): Promise<Bounds | undefined> {
    const others = this.#lanes.filter((other) => other !== lane);
    for (let round = 0; ; round++) {
      const now = performance.now();
      // One that is silent is asked when it is its turn to mint: nobody waits for it here.
      const old = others.filter((other) => !other.isSilent && other.isProofOld(now));
      await Promise.all(old.map((other) => this.#ask(other)));
      const bounds = boundsOf(
        others.map(({ proof }) => proof),
        this.#ring.lead,
      );
      const forgetful = others.find((other) => !other.isSilent && other.proof === undefined);
      if (forgetful === undefined) return bounds;
      if (round === MAX_ROUNDS) throw forgetting(forgetful);
      await this.#admit();
    }
  }

  async #ask(lane: Lane): Promise<void> {
    try {
      await lane.ask((status) => refuseOther(lane.mark.node, this.#ring, status));
    } catch (error) {
      if (error instanceof RingConflictError) throw error;
      if (!lane.isSilent) this.#rest(lane, error);
    }
  }

  async #deal(lane: Lane, batch: Request[], minted: Minted): Promise<void> {
    if (minted.kind !== 'refused') {
      lane.admissions = 0;
      // The others may vouch for more meanwhile.
      if (minted.kind === 'wait' || minted.more > 0) for (const each of this.#lanes) each.expire();
      if (minted.kind === 'wait') this.#wait(lane, minted.ms);
      else this.#share(lane, batch, minted);
      return;
    }
    refuseOther(lane.mark.node, this.#ring, minted.status);
    if (++lane.admissions > MAX_ADMISSIONS) throw forgetting(lane);
    await this.#admit();
  }

  /** Gives a range of keys to those who asked, in the order they asked in. */
  #share(lane: Lane, batch: Request[], { ms, variant, count, more, span }: KeyRange): void {
    const { size } = this.#ring;
    const width = widthOf(span);
    let [time, next, left] = [ms, variant, count];
    for (const request of batch) {
      const share = Math.min(request.left, left);
      if (share === 0) break;
      const keys = writeKeys(time, next, size, span, share, request.suffix);
      request.keys = request.keys.length === 0 ? keys : request.keys.concat(keys);
      request.left -= share;
      left -= share;
      const offset = next - span.first + share;
      time += Math.floor(offset / width) * size;
      next = span.first + (offset % width);
      if (request.left === 0) {
        request.resolve(request.keys);
        continue;
      }
      // The rest is asked for when there is enough of it: not sooner, or it would come in crumbs.
      request.sleepUntil = performance.now() + more;
      request.above = time + 1;
      request.lane = lane;
    }
  }

  #wait(lane: Lane, ms: number): void {
    const { lead, skew, size } = this.#ring;
    if (ms > lead + skew + size + 1000)
      throw new ClockError(
        `node ${lane.mark.node.name}: its sequence is ${ms + lead} ms ahead of its clock, which must have gone back`,
      );
    lane.waitUntil = performance.now() + ms;
  }

  /** Several nodes may ask for it at the same time: it is done once. */
  #admit(): Promise<void> {
    const sentAt = performance.now();
    this.#admission ??= admit(this.#lanes.map(({ mark }) => mark))
      .then(
        (seen) => {
          this.#isInDoubt = false;
          for (const lane of this.#lanes) {
            const status = seen.get(lane.mark);
            if (status !== undefined) lane.answered(proofOf(status), sentAt);
          }
        },
        (reason) => {
          throw new NotAdmitted(reason);
        },
      )
      .finally(() => {
        this.#admission = undefined;
      });
    return this.#admission;
  }

  #fail(lane: Lane, batch: Request[], thrown: unknown): void {
    const error = thrown instanceof NotAdmitted ? thrown.reason : thrown;
    if (error instanceof RingConflictError) {
      this.#isInDoubt = true;
      this.#rejectAll([...batch, ...this.#queue.splice(0)], error);
      return;
    }
    if (thrown instanceof NotAdmitted) {
      this.#rejectAll(batch, error);
      return;
    }
    const failure = this.#rest(lane, error);
    for (const request of batch) {
      request.failures.set(lane, failure);
      if (request.failures.size === this.#lanes.length) this.#rejectAll([request], allFailed(request));
    }
  }

  /** Leaves a node alone that has failed, and tells of it. */
  #rest(lane: Lane, error: unknown): IdError {
    lane.failed(performance.now(), !(error instanceof ClockError));
    const failure = error instanceof IdError ? error : lane.mark.server.failure('minting keys', error);
    this.#events.failed(lane.mark, failure);
    return failure;
  }

  #rejectAll(requests: Request[], error: unknown): void {
    for (const request of requests) {
      request.left = 0;
      request.reject(error);
    }
  }
}

function forgetting({ mark }: Lane): StoreError {
  return new StoreError(`node ${mark.node.name} forgets its sequence again and again`);
}
