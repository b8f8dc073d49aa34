import { StoreError } from '../../errors.js';
import { report } from '../../support/diagnostics.js';
import { type MintBounds, mintBoundsOf, mintingProofOf } from './mint-bounds.js';
import type { MintingNode } from './minting-node.js';
import type { NodeSet } from './node-set.js';
import { NodeSetConflictError, requireOwnSequence } from './node-set-conflict.js';
import { openSequences } from './open-sequences.js';

/** The number of times that the sequences of other nodes may be lost again right after they were opened. */
const MAX_ROUNDS = 20;

/** Minting could not begin at all. The node that was asked is not at fault. */
export class OpeningFailed {
  readonly reason: unknown;

  constructor(reason: unknown) {
    this.reason = reason;
  }
}

/** Keeps the proofs that the nodes mint for their node set, and opens sequences that are new or were lost. */
export class ProofKeeper {
  readonly #nodes: readonly MintingNode[];
  readonly #nodeSet: NodeSet;
  readonly #failed: (node: MintingNode, error: unknown) => void;
  #opening: Promise<void> | undefined;
  /** A node belonged to another node set. All nodes are asked again before the next key is minted. */
  #isInDoubt = false;

  /** @param failed called with a node that does not answer */
  constructor(
    nodes: readonly MintingNode[],
    nodeSet: NodeSet,
    failed: (node: MintingNode, error: unknown) => void,
  ) {
    this.#nodes = nodes;
    this.#nodeSet = nodeSet;
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
    for (let round = 0; ; round++) {
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
      if (round === MAX_ROUNDS) throw losesItsSequence(lost);
      await this.open();
    }
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

  /** Opens the sequences of all nodes. Calls at the same time share one run. */
  open(): Promise<void> {
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
}

export function losesItsSequence({ address }: MintingNode): StoreError {
  return new StoreError(
    `node ${address} loses its sequence again and again: set maxmemory-policy noeviction, and check who deletes the key`,
  );
}
