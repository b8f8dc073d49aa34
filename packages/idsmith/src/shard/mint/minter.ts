import { ClockError, IdError, StoreError } from '../../errors.js';
import { onAbort } from '../../support/abort.js';
import { report } from '../../support/diagnostics.js';
import { distributeKeys } from './distribute-keys.js';
import { type MintBounds, mintBoundsOf, mintingProofOf } from './mint-bounds.js';
import { allNodesFailed, type MintRequest, mayAsk, mintRequest } from './mint-request.js';
import { MintingNode } from './minting-node.js';
import type { MintReply, NodeSequence } from './node-sequence.js';
import type { NodeSet } from './node-set.js';
import { NodeSetConflictError, requireOwnSequence } from './node-set-conflict.js';
import { openSequences } from './open-sequences.js';

/** The number of times that a sequence may be closed or lost again right after it was opened. */
const MAX_OPENINGS = 5;

/** The number of times that the sequences of other nodes may be lost again right after they were opened. */
const MAX_ROUNDS = 20;

/** Minting could not begin at all. The node that was asked is not at fault. */
class OpeningFailed {
  readonly reason: unknown;

  constructor(reason: unknown) {
    this.reason = reason;
  }
}

/** Events of a minter. */
export interface MinterEvents {
  failed(sequence: NodeSequence, error: IdError): void;
}

/** Mints the keys of a node set. It gathers requests into round trips and asks the nodes in turn. */
export class Minter {
  readonly #nodes: readonly MintingNode[];
  readonly #nodeSet: NodeSet;
  readonly #events: MinterEvents;
  #queue: MintRequest[] = [];
  #turn: number;
  #isScheduled = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #opening: Promise<void> | undefined;
  /** A node belonged to another node set. All nodes are asked again before the next key is minted. */
  #isInDoubt = false;
  #closed: IdError | undefined;

  constructor(sequences: readonly NodeSequence[], nodeSet: NodeSet, events: MinterEvents) {
    this.#nodes = sequences.map((sequence) => new MintingNode(sequence));
    this.#nodeSet = nodeSet;
    this.#events = events;
    // Processes that start together begin with different nodes.
    this.#turn = Math.floor(Math.random() * sequences.length);
  }

  /** Mints `count` keys of a type, ascending. */
  mint(type: number, count: number, signal?: AbortSignal): Promise<string[]> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (count === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      const request = mintRequest(type, count, resolve, reject);
      this.#queue.push(request);
      if (signal !== undefined) this.#watch(signal, request);
      this.#schedule();
    });
  }

  /** Ends a request when its signal is aborted. A request without keys to get takes no part in anything. */
  #watch(signal: AbortSignal, request: MintRequest): void {
    const { resolve, reject } = request;
    const unwatch = onAbort(signal, () => {
      this.#queue = this.#queue.filter((other) => other !== request);
      this.#rejectAll([request], signal.reason);
    });
    request.resolve = (keys) => {
      unwatch();
      resolve(keys);
    };
    request.reject = (error) => {
      unwatch();
      reject(error);
    };
  }

  /** @param error the error of all calls that wait, and of all later ones */
  close(error: IdError): void {
    this.#closed = error;
    clearTimeout(this.#timer);
    this.#rejectAll(this.#queue.splice(0), error);
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
      const node = first && this.#choose(first, now);
      if (node === undefined) {
        this.#wakeLater(now);
        return;
      }
      const isFor = (request: MintRequest) => request.sleepUntil <= now && mayAsk(request, node);
      const batch = this.#queue.filter(isFor);
      this.#queue = this.#queue.filter((request) => !isFor(request));
      void this.#run(node, batch);
    }
  }

  /** Chooses the next node in turn that is free and healthy, or one that failed lately if there is no other. */
  #choose(request: MintRequest, now: number): MintingNode | undefined {
    const size = this.#nodes.length;
    const inTurn = Array.from(
      { length: size },
      (_, i) => this.#nodes[(this.#turn + i) % size] as MintingNode,
    );
    const allowed = inTurn.filter((node) => mayAsk(request, node));
    const healthy = allowed.filter(({ hasFailed }) => !hasFailed);
    if (healthy.length > 0) this.#probeFailedNodes(now);
    const node = (healthy.length > 0 ? healthy : allowed).find(
      ({ isBusy, waitUntil }) => !isBusy && waitUntil <= now,
    );
    if (node !== undefined) this.#turn = (this.#nodes.indexOf(node) + 1) % size;
    return node;
  }

  /** Asks nodes that failed a while ago whether they are back. No request waits for the answer. */
  #probeFailedNodes(now: number): void {
    for (const node of this.#nodes)
      if (node.hasFailed && node.backOffUntil <= now && !node.isBusy) {
        node.isBusy = true;
        void this.#renewProof(node)
          .then(
            () => {
              if (!node.isSilent) node.returned();
            },
            () => {
              this.#isInDoubt = true;
            },
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
    for (const { isBusy, waitUntil } of this.#nodes) if (!isBusy) consider(waitUntil);
    for (const { sleepUntil } of this.#queue) consider(sleepUntil);
    if (Number.isFinite(next)) this.#timer = setTimeout(() => this.#pump(), Math.ceil(next - now));
  }

  async #run(node: MintingNode, batch: MintRequest[]): Promise<void> {
    node.isBusy = true;
    try {
      if (this.#isInDoubt) await this.#openSequences();
      // Not Math.max(...): a batch may be longer than a list of arguments can be.
      const count = batch.reduce((sum, { left }) => sum + left, 0);
      const above = batch.reduce((highest, request) => Math.max(highest, request.above), 0);
      const bounds = await this.#bounds(node);
      const sentAt = performance.now();
      const reply = await node.sequence.mint(count, above, bounds);
      node.answered(reply.kind === 'refused' ? undefined : reply.proof, sentAt);
      await this.#handleReply(node, batch, reply);
      node.succeeded();
    } catch (error) {
      this.#fail(node, batch, error);
    }
    node.isBusy = false;
    this.#queue = [...batch.filter(({ left }) => left > 0), ...this.#queue];
    this.#pump();
  }

  /**
   * The milliseconds that `node` may mint. Renews the old proofs of the other nodes, and opens sequences that were lost.
   *
   * @returns `undefined` while another node is silent
   */
  async #bounds(node: MintingNode): Promise<MintBounds | undefined> {
    const others = this.#nodes.filter((other) => other !== node);
    for (let round = 0; ; round++) {
      const now = performance.now();
      // A silent node is asked again when its turn to mint comes, so that nobody waits for it here.
      const old = others.filter((other) => !other.isSilent && other.isProofOld(now));
      await Promise.all(old.map((other) => this.#renewProof(other)));
      const bounds = mintBoundsOf(
        others.map(({ proof }) => proof),
        this.#nodeSet.lead,
      );
      const lost = others.find((other) => !other.isSilent && other.proof === undefined);
      if (lost === undefined) return bounds;
      if (round === MAX_ROUNDS) throw losesItsSequence(lost);
      await this.#openSequences();
    }
  }

  async #renewProof(node: MintingNode): Promise<void> {
    try {
      await node.renewProof((status) => requireOwnSequence(node.sequence.node, this.#nodeSet, status));
    } catch (error) {
      if (error instanceof NodeSetConflictError) throw error;
      if (!node.isSilent || node.backOffUntil <= performance.now()) this.#backOff(node, error);
    }
  }

  async #handleReply(node: MintingNode, batch: MintRequest[], reply: MintReply): Promise<void> {
    if (reply.kind !== 'refused') {
      node.openings = 0;
      // The bounds may end later by the time of the next request.
      if (reply.kind === 'wait' || reply.restIn > 0) for (const each of this.#nodes) each.expireProof();
      if (reply.kind === 'wait') this.#waitForClock(node, reply.ms);
      else {
        const { name, address } = node.sequence.node;
        report('idsmith:key', () => ({ event: 'range-reserved', node: name, address, count: reply.count }));
        distributeKeys(reply, batch, node);
      }
      return;
    }
    requireOwnSequence(node.sequence.node, this.#nodeSet, reply.status);
    if (++node.openings > MAX_OPENINGS) throw losesItsSequence(node);
    await this.#openSequences();
  }

  #waitForClock(node: MintingNode, ms: number): void {
    const { lead, skew, size } = this.#nodeSet;
    if (ms > lead + skew + size + 1000)
      throw new ClockError(
        `node ${node.address}: its sequence is ${ms + lead} ms ahead of its clock: the clock went back. Set it right, or wait`,
      );
    node.waitUntil = performance.now() + ms;
  }

  /** Opens the sequences of all nodes. Calls at the same time share one run. */
  #openSequences(): Promise<void> {
    const sentAt = performance.now();
    this.#opening ??= openSequences(this.#nodes.map(({ sequence }) => sequence))
      .then(
        (seen) => {
          this.#isInDoubt = false;
          report('idsmith:key', () => ({ event: 'sequences-opened', nodes: this.#nodeSet.nodes }));
          for (const node of this.#nodes) {
            const status = seen.get(node.sequence);
            if (status !== undefined) node.answered(mintingProofOf(status), sentAt);
          }
        },
        (reason) => {
          throw new OpeningFailed(reason);
        },
      )
      .finally(() => {
        this.#opening = undefined;
      });
    return this.#opening;
  }

  #fail(node: MintingNode, batch: MintRequest[], thrown: unknown): void {
    const error = thrown instanceof OpeningFailed ? thrown.reason : thrown;
    if (error instanceof NodeSetConflictError) {
      this.#isInDoubt = true;
      report('idsmith:key', () => ({ event: 'node-set-conflict', nodes: this.#nodeSet.nodes, error }));
      this.#rejectAll([...batch, ...this.#queue.splice(0)], error);
      return;
    }
    if (thrown instanceof OpeningFailed) {
      this.#rejectAll(batch, error);
      return;
    }
    const failure = this.#backOff(node, error);
    for (const request of batch) {
      request.failures.set(node, failure);
      if (request.failures.size === this.#nodes.length) this.#rejectAll([request], allNodesFailed(request));
    }
  }

  /** Leaves a failed node alone for a while, and reports the failure. */
  #backOff(node: MintingNode, error: unknown): IdError {
    node.failed(performance.now(), !(error instanceof ClockError));
    const failure = error instanceof IdError ? error : node.sequence.runner.errorOf('minting keys', error);
    const { name, address } = node.sequence.node;
    report('idsmith:key', () => ({ event: 'node-failed', node: name, address, error: failure }));
    this.#events.failed(node.sequence, failure);
    return failure;
  }

  #rejectAll(requests: MintRequest[], error: unknown): void {
    for (const request of requests) {
      request.left = 0;
      request.reject(error);
    }
  }
}

function losesItsSequence({ address }: MintingNode): StoreError {
  return new StoreError(
    `node ${address} loses its sequence again and again: set maxmemory-policy noeviction, and check who deletes the key`,
  );
}
