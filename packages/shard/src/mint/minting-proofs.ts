import { IdError, report, StoreError } from 'idsmith/internal';
import type { NodeSet } from '../config/node-set.js';
import { type MintBounds, mintBoundsOf } from './mint-bounds.js';
import type { MintingNode } from './minting-node.js';
import { mintingProofOf, NodeSetConflictError, requireOwnSequence } from './node-sequence.js';
import { openSequences } from './open-sequences.js';

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
