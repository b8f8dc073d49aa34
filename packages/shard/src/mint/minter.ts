import { ClockError, IdError, report } from 'idsmith/internal';
import type { NodeSet } from '../config/node-set.js';
import { FRESH_VARIANTS, widthOf } from '../keys/variants.js';
import type { MintBounds } from './mint-bounds.js';
import {
  allNodesFailed,
  distributeKeys,
  endOnAbort,
  lastMsOf,
  type MintPart,
  type MintRequest,
  mergeKeys,
  mintRequest,
  rejectAll,
  takeParts,
} from './mint-request.js';
import { MintingNode, MintingProofs, OpeningFailed } from './minting-nodes.js';
import {
  type MintReply,
  type NodeSequence,
  NodeSetConflictError,
  requireOwnSequence,
} from './node-sequence.js';

/** The largest number of nodes that are asked in turn. With more nodes, the next millisecond of most nodes lies far ahead. */
const MAX_NODES_IN_TURN = 64;

/** Events of a minter. */
export interface MinterEvents {
  failed(sequence: NodeSequence, error: IdError): void;
}

/**
 * Mints the keys of a node set. It gathers requests into round trips, and asks several nodes at once for many keys. Read `mint-bounds.ts`
 * first: the bounds there are the reason why no key comes twice.
 */
export class Minter {
  readonly #nodes: readonly MintingNode[];
  readonly #nodeSet: NodeSet;
  readonly #timeout: number;
  readonly #events: MinterEvents;
  /** The number of keys that a node has at once, if nobody else mints: from now to `lead` ahead. Others are asked for more. */
  readonly #capacity: number;
  /** The requests with keys that no node has been asked for. */
  #queue: MintRequest[] = [];
  /** The index of the next node in turn. */
  #turn: number;
  /** The last node that told its clock. */
  #timekeeper: MintingNode | undefined;
  /** The last millisecond of all keys that were given out. */
  #highest = 0;
  readonly #failedNodes = new Set<MintingNode>();
  #isScheduled = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #proofs: MintingProofs;
  #closed: IdError | undefined;

  /** @param timeout the longest time that a call waits for a clock without a look at its sequence, ms */
  constructor(sequences: readonly NodeSequence[], nodeSet: NodeSet, timeout: number, events: MinterEvents) {
    this.#nodes = sequences.map((sequence) => new MintingNode(sequence));
    this.#nodeSet = nodeSet;
    this.#timeout = timeout;
    this.#events = events;
    this.#proofs = new MintingProofs(this.#nodes, nodeSet, (node, error) => this.#backOff(node, error));
    this.#capacity = Math.max(1, Math.floor(nodeSet.lead / nodeSet.size)) * widthOf(FRESH_VARIANTS);
    // Processes that start together begin with different nodes.
    this.#turn = Math.floor(Math.random() * sequences.length);
  }

  /** Mints `count` keys of a type, ascending, and beyond all keys that were given out before. */
  mint(type: number, count: number, signal?: AbortSignal): Promise<string[]> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (count === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      const request = mintRequest(type, count, this.#highest, resolve, reject);
      this.#queue.push(request);
      if (signal !== undefined) endOnAbort(request, signal);
      this.#schedule();
    });
  }

  /** @param error the error of all calls that wait, and of all later ones */
  close(error: IdError): void {
    this.#closed = error;
    clearTimeout(this.#timer);
    rejectAll(this.#queue.splice(0), error);
  }

  /** Gathers all requests of one turn of the event loop. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#pump();
    });
  }

  /** Asks free nodes for the keys that are wanted, several nodes at once if many keys are wanted. */
  #pump(): void {
    clearTimeout(this.#timer);
    this.#queue = this.#queue.filter(({ wanted }) => wanted > 0);
    if (this.#closed !== undefined) rejectAll(this.#queue.splice(0), this.#closed);
    if (this.#queue.length === 0) return;
    const now = performance.now();
    const total = this.#queue.reduce((sum, { wanted }) => sum + wanted, 0);
    const nodes = this.#freeNodes(now);
    const share = Math.ceil(total / Math.max(1, Math.min(nodes.length, Math.ceil(total / this.#capacity))));
    let left = total;
    for (const node of nodes) {
      if (left === 0) break;
      const isAllowed = (request: MintRequest) => !node.hasFailed || this.#isStuck(request);
      const parts = takeParts(this.#queue, node, share, now, isAllowed);
      for (const { count } of parts) left -= count;
      if (parts.length > 0) void this.#run(node, parts);
    }
    this.#queue = this.#queue.filter(({ wanted }) => wanted > 0);
    if (this.#queue.length > 0) this.#wakeLater(now);
  }

  /**
   * The nodes that are free, the one of the present millisecond first. So the keys of one process ascend, and lie as little
   * ahead of the clocks as possible.
   */
  #freeNodes(now: number): MintingNode[] {
    const { length } = this.#nodes;
    this.#probeFailedNodes(now);
    const isStuck = this.#failedNodes.size > 0 && this.#queue.some((request) => this.#isStuck(request));
    const first = this.#firstIndex(now);
    const free: MintingNode[] = [];
    for (let i = 0; i < length; i++) {
      const node = this.#nodes[(first + i) % length] as MintingNode;
      if (!node.isBusy && node.waitUntil <= now && (isStuck || !node.hasFailed)) free.push(node);
    }
    return free;
  }

  /**
   * The index of the node to ask first: that of the next millisecond, or of the last key if that one is later. A process that
   * rarely mints asks the nodes in turn, because the milliseconds of its calls may always belong to the same node.
   */
  #firstIndex(now: number): number {
    const { length } = this.#nodes;
    const clock = this.#timekeeper?.clockAt(now);
    const isRare = clock !== undefined && length <= MAX_NODES_IN_TURN && clock > this.#highest + length;
    if (clock !== undefined && !isRare) return Math.max(Math.floor(clock) + 1, this.#highest) % length;
    const index = this.#turn;
    this.#turn = (index + 1) % length;
    return index;
  }

  /** Tells whether a request has to ask nodes that failed lately, because there are no others. */
  #isStuck({ failures }: MintRequest): boolean {
    return this.#nodes.every((node) => node.hasFailed || failures?.has(node) === true);
  }

  /** Asks nodes that failed a while ago whether they are back. No request waits for the answer. */
  #probeFailedNodes(now: number): void {
    if (this.#failedNodes.size === this.#nodes.length) return;
    for (const node of this.#failedNodes)
      if (node.hasFailed && node.backOffUntil <= now && !node.isBusy) {
        node.isBusy = true;
        void this.#proofs
          .renew(node)
          .then(
            () => {
              if (!node.isSilent) node.returned();
            },
            () => this.#proofs.doubt(),
          )
          .finally(() => {
            node.isBusy = false;
            this.#pump();
          });
      }
  }

  /** Sets a timer for the next moment at which a node or a request is ready. The end of a round trip needs no timer. */
  #wakeLater(now: number): void {
    let next = Number.POSITIVE_INFINITY;
    const consider = (time: number) => {
      if (time > now && time < next) next = time;
    };
    for (const { waitUntil } of this.#nodes) consider(waitUntil);
    for (const { notBefore } of this.#queue) for (const time of notBefore?.values() ?? []) consider(time);
    if (Number.isFinite(next)) this.#timer = setTimeout(() => this.#pump(), Math.ceil(next - now));
  }

  async #run(first: MintingNode, parts: readonly MintPart[]): Promise<void> {
    let node = first;
    node.isBusy = true;
    try {
      await this.#proofs.settleDoubt();
      const count = parts.reduce((sum, part) => sum + part.count, 0);
      const isLarge = this.#nodes.length > MAX_NODES_IN_TURN;
      const bounds = await this.#proofs.boundsOf(isLarge ? undefined : node);
      if (isLarge) {
        // The proofs of many nodes take a while. The millisecond of the first node may be over.
        const above = this.#lowestMs(node, parts, performance.now());
        const next = nextNodeFor(this.#nodes, node, parts, above, bounds, this.#nodeSet);
        node.isBusy = false;
        if (next !== undefined) node = next;
        else {
          this.#takeBack(parts);
          return this.#pump();
        }
        node.isBusy = true;
      }
      const sentAt = performance.now();
      const reply = await node.sequence.mint(count, this.#lowestMs(node, parts, sentAt), bounds);
      node.answered(reply.kind === 'refused' ? undefined : reply.proof, sentAt);
      if (reply.kind !== 'refused') this.#timekeeper = node;
      await this.#handleReply(node, parts, reply);
      node.succeeded();
      this.#failedNodes.delete(node);
    } catch (error) {
      this.#fail(node, parts, error);
    }
    node.isBusy = false;
    this.#takeBack(parts);
    this.#pump();
  }

  /**
   * The first millisecond that a node may use, so that keys that a process mints one after the other ascend. A node whose clock
   * is behind the others does not wait for its clock because of that: its keys are then out of order by as much.
   */
  #lowestMs(node: MintingNode, parts: readonly MintPart[], now: number): number {
    const above = parts.reduce((highest, { request }) => Math.max(highest, request.above), 0);
    const clock = node.clockAt(now) ?? this.#timekeeper?.clockAt(now);
    return clock === undefined ? above : Math.min(above, Math.floor(clock) + this.#nodeSet.lead);
  }

  /** Puts parts of requests that the node did not serve back into the queue. */
  #takeBack(parts: readonly MintPart[]): void {
    const back = parts.filter(({ request, count }) => count > 0 && !request.isSettled);
    const returned = [...new Set(back.map(({ request }) => request))].filter(({ wanted }) => wanted === 0);
    for (const { request, count } of back) request.wanted += count;
    this.#queue = [...returned, ...this.#queue];
  }

  async #handleReply(node: MintingNode, parts: readonly MintPart[], reply: MintReply): Promise<void> {
    if (reply.kind !== 'refused') {
      if (reply.kind === 'keys') this.#proofs.forgetLosses();
      else this.#proofs.requireLasting();
      // The bounds may end later by the time of the next request.
      if (reply.kind === 'wait' || reply.restIn > 0) for (const each of this.#nodes) each.expireProof();
      if (reply.kind === 'wait') this.#waitForClock(node, reply.ms);
      else {
        const { name, address } = node.sequence.node;
        report('idsmith:key', () => ({ event: 'range-reserved', node: name, address, count: reply.count }));
        distributeKeys(reply, parts, node);
        for (const { request } of parts) this.#finish(request);
      }
      return;
    }
    requireOwnSequence(node.sequence.node, this.#nodeSet, reply.status);
    this.#proofs.requireLasting();
    const opened = (await this.#proofs.open()).get(node.sequence);
    if (opened instanceof IdError) throw opened;
  }

  /** Gives a request its keys, if all of them are there. */
  #finish(request: MintRequest): void {
    const { count, reserved, batches, isSettled, resolve } = request;
    if (isSettled || reserved < count) return;
    request.isSettled = true;
    const { size } = this.#nodeSet;
    for (const batch of batches) this.#highest = Math.max(this.#highest, lastMsOf(batch, size));
    resolve(mergeKeys(batches, size));
  }

  #waitForClock(node: MintingNode, ms: number): void {
    const { lead, skew, size } = this.#nodeSet;
    if (ms > lead + skew + size + 1000)
      throw new ClockError(
        `node ${node.address}: its sequence is ${ms + lead} ms ahead of its clock: the clock went back. Set it right, or wait`,
      );
    // The sequence may be lost meanwhile.
    node.waitUntil = performance.now() + Math.min(ms, this.#timeout);
  }

  #fail(node: MintingNode, parts: readonly MintPart[], thrown: unknown): void {
    const error = thrown instanceof OpeningFailed ? thrown.reason : thrown;
    const requests = parts.map(({ request }) => request).filter(({ isSettled }) => !isSettled);
    if (error instanceof NodeSetConflictError) {
      this.#proofs.doubt();
      report('idsmith:key', () => ({ event: 'node-set-conflict', nodes: this.#nodeSet.nodes, error }));
      rejectAll([...requests, ...this.#queue.splice(0)], error);
      return;
    }
    if (thrown instanceof OpeningFailed) {
      rejectAll(requests, error);
      return;
    }
    const failure = this.#backOff(node, error);
    for (const request of requests) {
      request.failures ??= new Map();
      request.failures.set(node, failure);
      if (request.failures.size === this.#nodes.length) rejectAll([request], allNodesFailed(request));
    }
  }

  /** Leaves a failed node alone for a while, and reports the failure. */
  #backOff(node: MintingNode, error: unknown): IdError {
    node.failed(performance.now(), !(error instanceof ClockError));
    this.#failedNodes.add(node);
    const failure =
      error instanceof IdError ? error : node.sequence.connection.errorOf('minting keys', error);
    const { name, address } = node.sequence.node;
    report('idsmith:key', () => ({ event: 'node-failed', node: name, address, error: failure }));
    this.#events.failed(node.sequence, failure);
    return failure;
  }
}

/**
 * The node of the next millisecond that can be had in a large node set, instead of `node`.
 *
 * @param above the lowest millisecond that is wanted
 * @returns `undefined` if all nodes have to wait for their clocks; each node then has the end of its wait
 */
export function nextNodeFor(
  nodes: readonly MintingNode[],
  node: MintingNode,
  parts: readonly MintPart[],
  above: number,
  bounds: MintBounds | undefined,
  { lead, size, skew }: NodeSet,
): MintingNode | undefined {
  const now = performance.now();
  // Questions to many nodes take long. The latest reading is behind by the least.
  const clock = nodes.reduce((latest, each) => Math.max(latest, each.earliestClockAt(now) ?? 0), 0);
  if (clock === 0) return node;
  const aim = aimAt(clock, above, bounds, lead);
  const limit = bounds === undefined || bounds.until < clock ? clock + lead : bounds.until;
  if (aim > limit && aim - limit <= lead + skew) {
    for (const each of nodes) {
      each.waitUntil = Math.max(each.waitUntil, now + aim - limit);
      each.expireProof();
    }
    return undefined;
  }
  for (let ms = aim; ms <= limit && ms < aim + size; ms++) {
    const each = nodes[ms % size] as MintingNode;
    const isFree = each === node || (!each.isBusy && each.waitUntil <= now && !each.hasFailed);
    if (isFree && !parts.some(({ request }) => request.failures?.has(each))) return each;
  }
  return node;
}

/**
 * The millisecond to mint next in a large node set. Most of its nodes have no millisecond that is near, so the node is chosen
 * by this millisecond, and the millisecond must not pass while the node is asked.
 *
 * @param clock the clock of the nodes; it may be estimated too early
 * @param above the lowest millisecond that is wanted
 * @returns a millisecond later than `bounds.until` if no node has keys yet
 */
function aimAt(clock: number, above: number, bounds: MintBounds | undefined, lead: number): number {
  const { after, until } = bounds ?? { after: 0, until: Number.MAX_SAFE_INTEGER };
  // Beyond old bounds, nodes mint up to `lead` ahead of their clocks, with the variants of nodes without proofs.
  const room = until < clock ? lead : until - clock;
  const soon = Math.floor(clock + Math.min(lead / 4, room / 2));
  return Math.max(soon, above, after + 1);
}
