import { MintingNode } from '../../../src/shard/mint/minting-node.ts';
import { type MintReply, NodeSequence } from '../../../src/shard/mint/node-sequence.ts';
import type { SequenceStatus } from '../../../src/shard/mint/sequence-status.ts';
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
      override spanOf() {
        return this.spans.fresh;
      }
    },
  ),
  'a set trusts its other nodes for ever': trusting,
  'a hand-over takes a node for closed that is not': sequence(
    class extends NodeSequence {
      override async close(next: string, generation: number): Promise<SequenceStatus> {
        if (this.node.index > 0) return super.close(next, generation);
        return { ...(await this.readStatus()), whose: 'own', state: 'closed', next };
      }

      override async readStatus(operation?: string): Promise<SequenceStatus> {
        const status = await super.readStatus(operation);
        const isOld = this.node.index === 0 && operation === undefined && status.whose === 'own';
        return isOld ? { ...status, whose: 'foreign' } : status;
      }
    },
  ),
  'a hand-over begins where the clock is': sequence(
    class extends NodeSequence {
      override adopt(_base: number, generation: number): Promise<SequenceStatus> {
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
