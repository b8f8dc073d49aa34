import { InvalidOptionError } from '../../errors.js';
import type { ShardNode } from '../shard-nodes.js';
import type { NodeSet } from './node-set.js';
import type { SequenceStatus } from './sequence-status.js';

/** Another node set owns the sequence of a node. This node set mints nothing until that is settled. */
export class NodeSetConflictError extends InvalidOptionError {
  /** The fingerprint of the node set that mints in place of this one, or will. */
  readonly next: string;

  constructor(message: string, next: string) {
    super(message);
    this.next = next;
  }
}

/** @throws NodeSetConflictError when the sequence of `node` belongs to another node set, or was handed over to one */
export function requireOwnSequence(node: ShardNode, nodeSet: NodeSet, status: SequenceStatus): void {
  if (status.whose === 'foreign')
    throw new NodeSetConflictError(
      `shards: node ${node.address} mints keys for other nodes or another epoch (${status.nodes}), not for ` +
        `${nodeSet.nodes}: keys would repeat. Use the same config in all processes. If a server has only got another ` +
        'address, stop the server at the old address, and give the entry the old address as ringName. If this config has ' +
        'other nodes and is the right one, stop the processes with the other config, and reshard from that config to this one',
      status.fingerprint,
    );
  if (status.whose === 'misplaced')
    throw new NodeSetConflictError(
      `shards: node ${node.address} is not shards.${node.name}, but another node of ${nodeSet.nodes}: keys would repeat. ` +
        'The addresses in this config are mixed up: give every ringName the address of its own server',
      status.fingerprint,
    );
  if (status.whose === 'own' && status.state === 'closed')
    throw new NodeSetConflictError(
      `shards: node ${node.address} no longer mints for ${nodeSet.nodes}: minting was handed over to other nodes. ` +
        'Use the new config',
      status.next,
    );
}
