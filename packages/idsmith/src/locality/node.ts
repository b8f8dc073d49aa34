import { type Clock, isMachineClock } from '../clock.js';
import type { Lease } from '../lease/lease.js';
import { bindLease } from '../lease/window.js';
import { isA, refuse, requireInteger, requireKnown } from '../options.js';
import type { RandomSource } from '../random.js';
import type { MachineNode } from '../runtime/machine.js';
import { machineIdentity, processIdentity, randomNode } from './identity.js';
import { privateLedger } from './ledger.js';

/** The source of the node in a generator's ids. */
export type NodeSource = 'machine' | 'random' | 'given' | 'lease';

/** The option `node` of a generator. */
export type NodeOption =
  | 'auto'
  | 'machine'
  | 'random'
  | { processId: number; mac: Uint8Array; source?: NodeSource }
  | Lease;

/** The node in a generator's ids, and its source. */
export interface LocalityNode extends MachineNode {
  readonly source: NodeSource;
}

export const NODE_SOURCES = ['machine', 'random', 'given', 'lease'] as const;
const NODE_NAMES = ['processId', 'mac', 'source'];

/**
 * Chooses the node in ids, and the ledger in which generators with this node claim milliseconds.
 *
 * Generators with the identity of the process share one ledger, in all threads. A generator with a clock, counter or node
 * of its own has a private ledger.
 */
export function chooseNode(
  { node, clock, counter }: { node: NodeOption; clock: Clock; counter: number | undefined },
  random: RandomSource,
): { node: LocalityNode; ledger: ArrayBufferLike } {
  if (node === 'random') return apart(randomNode(random), 'random');
  if (isLease(node)) return apart(leasedNode(0), 'lease');
  if (node !== 'auto' && node !== 'machine') return apart(requireNode('node', node), 'given');
  const { node: own, source, ledger } = node === 'auto' ? processIdentity() : machineIdentity();
  const usual = isMachineClock(clock) && counter === undefined;
  return { node: { ...own, source }, ledger: usual ? ledger : privateLedger() };
}

function apart(node: MachineNode, source: NodeSource): { node: LocalityNode; ledger: ArrayBufferLike } {
  return { node: { ...node, source }, ledger: privateLedger() };
}

/** True if the option `node` is a lease. */
export function isLease(node: NodeOption | undefined): node is Lease {
  return typeof (node as Lease | undefined)?.[bindLease] === 'function';
}

/** A leased node id in the 44 bits of identity: the lowest 16 bits are the process id, the rest fills the end of the MAC address. */
export function leasedNode(id: number): MachineNode {
  const high = Math.floor(id / 65536);
  return {
    processId: id % 65536,
    mac: Uint8Array.of(0, 0, (high >>> 24) & 15, high >>> 16, high >>> 8, high),
  };
}

/**
 * A copy of the node that the caller gave.
 *
 * @throws InvalidOptionError when `node` is not a process id with a MAC address of six bytes
 */
export function requireNode(option: string, node: MachineNode): MachineNode {
  if (typeof node !== 'object' || node === null)
    refuse(option, '"auto", "machine", "random", a lease or { processId, mac }', node);
  const { processId, mac } = requireKnown(option, node, NODE_NAMES);
  requireInteger(`${option}.processId`, processId, 0, Number.MAX_SAFE_INTEGER);
  if (!isA('Uint8Array', mac) || mac.length !== 6) refuse(`${option}.mac`, 'a Uint8Array of 6 bytes', mac);
  return { processId: processId % 65536, mac: Uint8Array.from(mac) };
}
