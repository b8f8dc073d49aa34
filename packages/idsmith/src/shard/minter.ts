import { base62Pair } from '../encoding/base62.js';
import { ClockError, IdError, StoreError } from '../errors.js';
import { admit, RingConflictError, refuseOther } from './admission.js';
import { VARIANTS, writeKeys } from './key.js';
import type { KeyRange, Mark, Minted, Ring } from './marks.js';

/** How long a node that failed is left alone while others answer, ms: twice as long each time, up to a limit. */
const REST = 1000;
const LONGEST_REST = 30_000;

/** How often minting on a node may find it closed or empty again right after it was opened. */
const MAX_ADMISSIONS = 5;

/** Keys that were asked for. */
interface Request {
  readonly suffix: string;
  keys: string[];
  left: number;
  /** The keys still to come must lie in this millisecond or a later one, so that a batch ascends. */
  above: number;
  /** Until when not to ask for them. */
  sleepUntil: number;
  /** The node that has given the first of them: another one would have to skip to where that one is. */
  lane: Lane | undefined;
  readonly failures: Map<Lane, IdError>;
  resolve(keys: string[]): void;
  reject(error: unknown): void;
}

/** A node, which answers one round trip at a time; what is asked meanwhile is gathered for the next one. */
interface Lane {
  readonly mark: Mark;
  isBusy: boolean;
  /** Until when the node has no keys, since its mark is as far ahead of its clock as it may be. */
  waitUntil: number;
  /** Until when it is left alone, since it has failed, and how often it has since it last answered. */
  restUntil: number;
  failures: number;
  admissions: number;
}

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
    this.#lanes = marks.map((mark) => ({
      mark,
      isBusy: false,
      waitUntil: 0,
      restUntil: 0,
      failures: 0,
      admissions: 0,
    }));
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
      await this.#deal(lane, batch, await lane.mark.mint(count, above));
      lane.restUntil = 0;
      lane.failures = 0;
    } catch (error) {
      this.#fail(lane, batch, error);
    }
    lane.isBusy = false;
    this.#queue = [...batch.filter(({ left }) => left > 0), ...this.#queue];
    this.#pump();
  }

  async #deal(lane: Lane, batch: Request[], minted: Minted): Promise<void> {
    if (minted.kind === 'keys') {
      lane.admissions = 0;
      this.#share(lane, batch, minted);
      return;
    }
    if (minted.kind === 'wait') {
      this.#wait(lane, minted.ms);
      return;
    }
    refuseOther(lane.mark.node, this.#ring, minted.status);
    if (++lane.admissions > MAX_ADMISSIONS)
      throw new StoreError(`node ${lane.mark.node.name} forgets its sequence again and again`);
    await this.#admit();
  }

  /** Gives a range of keys to those who asked, in the order they asked in. */
  #share(lane: Lane, batch: Request[], { ms, variant, count, more }: KeyRange): void {
    const { size } = this.#ring;
    let [time, next, left] = [ms, variant, count];
    for (const request of batch) {
      const share = Math.min(request.left, left);
      if (share === 0) break;
      const keys = writeKeys(time, next, size, share, request.suffix);
      request.keys = request.keys.length === 0 ? keys : request.keys.concat(keys);
      request.left -= share;
      left -= share;
      time += Math.floor((next + share) / VARIANTS) * size;
      next = (next + share) % VARIANTS;
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
    const { lead, skew } = this.#ring;
    if (ms > lead + skew + 1000)
      throw new ClockError(
        `node ${lane.mark.node.name}: its sequence is ${ms + lead} ms ahead of its clock, which must have gone back`,
      );
    lane.waitUntil = performance.now() + ms;
  }

  /** Several nodes may ask for it at the same time: it is done once. */
  #admit(): Promise<void> {
    this.#admission ??= admit(this.#lanes.map(({ mark }) => mark))
      .then(
        () => {
          this.#isInDoubt = false;
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
    lane.restUntil = performance.now() + Math.min(REST * 2 ** lane.failures++, LONGEST_REST);
    const failure = error instanceof IdError ? error : lane.mark.server.failure('minting keys', error);
    this.#events.failed(lane.mark, failure);
    for (const request of batch) {
      request.failures.set(lane, failure);
      if (request.failures.size === this.#lanes.length) this.#rejectAll([request], allFailed(request));
    }
  }

  #rejectAll(requests: Request[], error: unknown): void {
    for (const request of requests) {
      request.left = 0;
      request.reject(error);
    }
  }
}

function mayAsk({ lane, failures }: Request, asked: Lane): boolean {
  return !failures.has(asked) && (lane === undefined || lane === asked || failures.has(lane));
}

/** The one error if there is one node, otherwise one that names them all. */
function allFailed({ failures }: Request): IdError {
  const errors = [...failures.values()];
  const [first] = errors as [IdError, ...IdError[]];
  if (errors.every(({ message }) => message === first.message)) return first;
  return new StoreError(`no node can mint keys: ${errors.map(({ message }) => message).join('; ')}`, {
    cause: first,
  });
}
