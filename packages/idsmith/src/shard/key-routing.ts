import type { ShardNode } from './shard-nodes.js';

/**
 * Mints keys and hands out clients in place of a map while its keys are moved.
 *
 * @internal
 */
export interface KeyRouting {
  /** The node that a command on a key goes to now, as far as is known without asking a node. */
  ownerNow(key: string): ShardNode;
  getClient(key: string): unknown;
  mint(type: number, count: number, signal: AbortSignal | undefined): Promise<string[]>;
}
