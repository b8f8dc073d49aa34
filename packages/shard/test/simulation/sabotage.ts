import { MintingNode } from '../../src/mint/minting-nodes.ts';
import { type MintReply, NodeSequence, type NodeSequenceStatus } from '../../src/mint/node-sequence.ts';
import { NodeModel, type SequenceHash } from './node-model.ts';
import type { Sabotage } from './simulation.ts';

const node = (Node: typeof NodeModel): Sabotage => ({ Node });
const sequence = (Sequence: typeof NodeSequence): Sabotage => ({ Sequence });

/** Proofs of other nodes are never renewed, and never run out. */
const trusting: Sabotage = {
  Sequence: class extends NodeSequence {
    override mint(count: number, above: number): Promise<MintReply> {
      return super.mint(count, above, { after: 0, until: Number.MAX_SAFE_INTEGER });
    }
  },
  breaks() {
    const { isProofOld } = MintingNode.prototype;
    MintingNode.prototype.isProofOld = function () {
      return this.proof === undefined;
    };
    return () => Object.assign(MintingNode.prototype, { isProofOld });
  },
};

/** What is wrong, by what it is: each must be found out within a few seeds. */
export const SABOTAGES: Readonly<Record<string, Sabotage>> = {
  'a node does not notice that it was restarted': node(
    class extends NodeModel {
      protected override isLost(hash: SequenceHash | undefined): boolean {
        return hash === undefined;
      }
    },
  ),
  'a node that lost its sequence begins at its clock': node(
    class extends NodeModel {
      protected override reach(now: number): number {
        return now;
      }
    },
  ),
  'a set that took over mints the variants of a set that began': node(
    class extends NodeModel {
      override spanOf(_: SequenceHash, isSure: boolean) {
        return isSure ? this.spans.fresh : this.spans.freshUnsure;
      }
    },
  ),
  'nodes without proofs mint the same variants in all sets': node(
    class extends NodeModel {
      override spanOf(hash: SequenceHash, isSure: boolean) {
        return isSure ? super.spanOf(hash, isSure) : this.spans.freshUnsure;
      }
    },
  ),
  'a handover leaves its new nodes to others until it opens them': sequence(
    class extends NodeSequence {
      override reserve(): Promise<NodeSequenceStatus> {
        return this.readStatus();
      }

      override async adopt(base: number, generation: number): Promise<NodeSequenceStatus> {
        const status = await this.readStatus();
        const isOpen = status.whose === 'own' && status.state === 'open' && !status.lost;
        return isOpen ? status : super.adopt(base, generation);
      }
    },
  ),
  'a set that is to take over begins by itself': sequence(
    class extends NodeSequence {
      constructor(connection: NodeSequence['connection'], nodeSet: NodeSequence['nodeSet']) {
        super(connection, { ...nodeSet, takesOver: false });
      }
    },
  ),
  'a set trusts its other nodes for ever': trusting,
  'a handover takes a node for closed that is not': sequence(
    class extends NodeSequence {
      override async close(next: string, generation: number): Promise<NodeSequenceStatus> {
        if (this.node.index > 0) return super.close(next, generation);
        return { ...(await this.readStatus()), whose: 'own', state: 'closed', next };
      }

      override async readStatus(operation?: string): Promise<NodeSequenceStatus> {
        const status = await super.readStatus(operation);
        const isOld = this.node.index === 0 && operation === undefined && status.whose === 'own';
        return isOld ? { ...status, whose: 'foreign' } : status;
      }
    },
  ),
  'a handover begins where the clock is': sequence(
    class extends NodeSequence {
      override adopt(_base: number, generation: number): Promise<NodeSequenceStatus> {
        return super.adopt(0, generation);
      }
    },
  ),
  'a process mints all milliseconds on every node': sequence(
    class extends NodeSequence {
      override async mint(...args: Parameters<NodeSequence['mint']>): Promise<MintReply> {
        const reply = await super.mint(...args);
        return reply.kind === 'keys' ? { ...reply, ms: reply.ms - this.node.index } : reply;
      }
    },
  ),
  'a node gives the same keys again when no answer has come': node(
    class extends NodeModel {
      #last: { args: string; reply: unknown[] } | undefined;

      override execute(script: string, args: readonly (string | number)[]): unknown[] {
        const text = args.join(' ');
        const reply = this.#last?.args === text ? this.#last.reply : super.execute(script, args);
        if (reply[0] === 'keys') this.#last = { args: text, reply };
        return reply;
      }
    },
  ),
};
