import { IdError, report, StoreError } from 'idsmith/internal';
import type { NodeSet } from '../config/node-set.js';
import { type MintBounds, type MintingProof, mintBoundsOf } from './mint-bounds.js';
import {
  mintingProofOf,
  type NodeSequence,
  type NodeSequenceStatus,
  NodeSetConflictError,
  requireOwnSequence,
} from './node-sequence.js';
import { openSequences } from './open-sequences.js';

/** The time that a failed node is left alone while others answer, ms. It doubles with each failure, up to a limit. */
const BACK_OFF = 1000;
const MAX_BACK_OFF = 30_000;

/** The age up to which a proof is used without asking the node again, ms: half of the time that a proof is valid for. */
const MAX_PROOF_AGE = 500;

/** The state of one node, as the minter knows it. A node answers one round trip at a time. */
export class MintingNode {
  readonly sequence: NodeSequence;
  isBusy = false;
  /** The end of the time in which the node has no keys, because its sequence is too far ahead of its clock. */
  waitUntil = 0;
  /** The end of the time in which the node is left alone after a failure. */
  backOffUntil = 0;
  /** The number of times that the sequence was seen to be lost, or opened anew by others, since a node last gave keys. */
  losses = 0;
  #failures = 0;
  #hasFailed = false;
  #isSilent = false;
  #proof: MintingProof | undefined;
  /** The millisecond beyond which the sequence minted when it was last seen. It changes when the sequence is opened anew. */
  #from: number | undefined;
  /** The time from which the proof has to be renewed. */
  #proofUntil = 0;
  /** The time of the last question that was answered, and of the answer. */
  #readAt = 0;
  #answeredAt = 0;
  #asking: Promise<void> | undefined;

  constructor(sequence: NodeSequence) {
    this.sequence = sequence;
  }

  get address(): string {
    return this.sequence.node.address;
  }

  /** The node did not answer the last question. Nobody knows which node set it mints for. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** The last proof; `undefined` if the node is silent, or was seen not to mint for its node set. */
  get proof(): MintingProof | undefined {
    return this.#isSilent ? undefined : this.#proof;
  }

  /** The node failed lately and has not answered since. It gets no requests while others are healthy. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  isProofOld(now: number): boolean {
    return this.#proof === undefined || this.#proofUntil <= now;
  }

  /** The clock of the node by its last answer, ms since the epoch; ahead by the time that the question took. */
  clockAt(now: number): number | undefined {
    return this.#proof && this.#proof.now + now - this.#readAt;
  }

  /** The clock of the node by its last answer, ms since the epoch; behind by the time that the answer took. */
  earliestClockAt(now: number): number | undefined {
    return this.#proof && this.#proof.now + now - this.#answeredAt;
  }

  /** Records an answer to a question that was sent at `sentAt`. */
  answered(proof: MintingProof | undefined, sentAt: number): void {
    if (proof === undefined || (this.#from !== undefined && this.#from !== proof.from)) this.losses++;
    this.opened(proof, sentAt);
  }

  /** Records the answer to the request to open the sequence, which was sent at `sentAt`. */
  opened(proof: MintingProof | undefined, sentAt: number): void {
    this.#from = proof?.from;
    this.#proof = proof;
    this.#readAt = sentAt;
    this.#answeredAt = performance.now();
    this.#proofUntil = sentAt + MAX_PROOF_AGE;
    this.#isSilent = false;
  }

  /** Records that the node answers again. It may still be unable to mint. */
  returned(): void {
    this.#hasFailed = false;
  }

  /** Records that the node minted, or said when it can. */
  succeeded(): void {
    this.#failures = 0;
    this.#hasFailed = false;
    this.backOffUntil = 0;
  }

  /** Makes sure that the proof is renewed before its next use. */
  expireProof(): void {
    this.#proofUntil = 0;
  }

  /** @param isSilent true if the node did not answer at all */
  failed(now: number, isSilent: boolean): void {
    this.#isSilent = isSilent;
    this.#hasFailed = true;
    this.backOffUntil = now + Math.min(BACK_OFF * 2 ** this.#failures++, MAX_BACK_OFF);
  }

  /**
   * Asks the node which node set it mints for. Calls at the same time share one question.
   *
   * @throws the error of `check`, or of a node that does not answer
   */
  renewProof(check: (status: NodeSequenceStatus) => void): Promise<void> {
    const sentAt = performance.now();
    this.#asking ??= this.sequence
      .readStatus('minting keys')
      .then((status) => {
        this.answered(mintingProofOf(status), sentAt);
        check(status);
      })
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }
}

/** The number of times that a sequence may be lost before a node gives keys. */
const MAX_LOSSES = 5;

/** Minting could not begin at all. The node that was asked is not at fault. */
export class OpeningFailed {
  readonly reason: unknown;

  constructor(reason: unknown) {
    this.reason = reason;
  }
}

/** Keeps the proofs that the nodes mint for their node set, and opens sequences that are new or were lost. */
export class MintingProofs {
  readonly #nodes: readonly MintingNode[];
  readonly #nodeSet: NodeSet;
  readonly #failed: (node: MintingNode, error: unknown) => void;
  #opening: ReturnType<typeof openSequences> | undefined;
  /**
   * A node belonged to another node set, or nobody has looked yet whether this one has taken over. All nodes are asked before the
   * next key is minted.
   */
  #isInDoubt: boolean;

  /** @param failed called with a node that does not answer */
  constructor(
    nodes: readonly MintingNode[],
    nodeSet: NodeSet,
    failed: (node: MintingNode, error: unknown) => void,
  ) {
    this.#nodes = nodes;
    this.#nodeSet = nodeSet;
    this.#isInDoubt = nodeSet.takesOver;
    this.#failed = failed;
  }

  /** Records that a node belonged to another node set. */
  doubt(): void {
    this.#isInDoubt = true;
  }

  /** Asks all nodes again after a doubt. */
  async settleDoubt(): Promise<void> {
    if (this.#isInDoubt) await this.open();
  }

  /**
   * The milliseconds that `node` may mint. Renews the old proofs of the other nodes, and opens sequences that were lost.
   * Without a node, the milliseconds that every node may mint, from the proofs of all nodes.
   *
   * @returns `undefined` while another node is silent
   */
  async boundsOf(node?: MintingNode): Promise<MintBounds | undefined> {
    const others = this.#nodes.filter((other) => other !== node);
    for (;;) {
      const now = performance.now();
      // A silent node is asked again when its turn to mint comes, so that nobody waits for it here.
      const old = others.filter((other) => !other.isSilent && other.isProofOld(now));
      await Promise.all(old.map((other) => this.renew(other)));
      const bounds = mintBoundsOf(
        others.map(({ proof }) => proof),
        this.#nodeSet.lead,
      );
      const lost = others.find((other) => !other.isSilent && other.proof === undefined);
      if (lost === undefined) return bounds;
      this.requireLasting();
      const opened = (await this.open()).get(lost.sequence);
      if (opened instanceof IdError) this.#failed(lost, opened);
    }
  }

  /**
   * Makes sure that nobody deletes a sequence again and again. Calls would wait without end, because each time all nodes have to wait
   * until their clocks are beyond every key that may exist.
   *
   * @throws OpeningFailed naming the node
   */
  requireLasting(): void {
    const node = this.#nodes.find(({ losses }) => losses > MAX_LOSSES);
    if (node === undefined) return;
    this.forgetLosses();
    throw new OpeningFailed(
      new StoreError(
        `node ${node.address} loses its sequence again and again: set maxmemory-policy noeviction, and check who deletes the key`,
      ),
    );
  }

  /** Begins to count anew how often sequences are lost. */
  forgetLosses(): void {
    for (const node of this.#nodes) node.losses = 0;
  }

  /**
   * Asks a node which node set it mints for.
   *
   * @throws NodeSetConflictError when it is another one
   */
  async renew(node: MintingNode): Promise<void> {
    try {
      await node.renewProof((status) => requireOwnSequence(node.sequence.node, this.#nodeSet, status));
    } catch (error) {
      if (error instanceof NodeSetConflictError) throw error;
      if (!node.isSilent || node.backOffUntil <= performance.now()) this.#failed(node, error);
    }
  }

  /**
   * Opens the sequences of all nodes. Calls at the same time share one run.
   *
   * @returns for each node its status, or the error for which its sequence could not be opened
   */
  open(): ReturnType<typeof openSequences> {
    const sentAt = performance.now();
    this.#opening ??= openSequences(this.#nodes.map(({ sequence }) => sequence))
      .then(
        (seen) => {
          this.#isInDoubt = false;
          report('idsmith:key', () => ({ event: 'sequences-opened', nodes: this.#nodeSet.nodes }));
          for (const node of this.#nodes) {
            const status = seen.get(node.sequence);
            if (status !== undefined && !(status instanceof IdError))
              node.opened(mintingProofOf(status), sentAt);
          }
          return seen;
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
}
