import { machineFacts, sharedProcess } from '#runtime';
import { type Clock, isMachineClock } from '../clock.js';
import { InvalidOptionError } from '../errors.js';
import type { Lease } from '../lease/lease.js';
import { bindLease } from '../lease/window.js';
import { isA, refuse, requireInteger, requireKnown } from '../options.js';
import { type RandomSource, systemRandom } from '../random.js';
import type { MachineNode } from '../runtime/machine.js';
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

/** An identity, and the ledger in which generators with this identity claim milliseconds. */
interface Identity {
  readonly node: MachineNode;
  readonly source: 'machine' | 'random';
  readonly ledger: ArrayBufferLike;
}

/** The first byte of a random node's MAC address: a group address, which no interface has. It is not part of ids. */
const RANDOM_MAC = 0x03;

/**
 * A node of 44 random bits. The upper 12 MAC bits are never all zero, so that no random node equals a leased one. This
 * leaves out one node in 4,096.
 */
export function randomNode(random: RandomSource): MachineNode {
  const bytes = new Uint8Array(8);
  random.fill(bytes);
  const view = new DataView(bytes.buffer);
  const upper = 1 + (view.getUint32(4) % 0xfff);
  const [, , mac4, mac5] = bytes as unknown as [number, number, number, number];
  return {
    processId: view.getUint16(0),
    mac: Uint8Array.of(RANDOM_MAC, 0, upper >> 8, upper, mac4, mac5),
  };
}

/** The identity of a thread that shares no memory with the rest of its process. */
let alone: Identity | undefined;

/**
 * The identity that all default generators of this process share, in all threads.
 *
 * The first call decides the identity. A thread that shares no memory with the rest of its process (a web worker, or a
 * worker whose main thread has not loaded idsmith) has a random identity of its own.
 */
function processIdentity(): Identity {
  const shared = sharedProcess();
  if (!shared) {
    alone ??= { node: randomNode(systemRandom), source: 'random', ledger: privateLedger() };
    return alone;
  }
  const node = shared.node(() => randomNode(systemRandom));
  return { node, source: node.mac[0] === RANDOM_MAC ? 'random' : 'machine', ledger: shared.ledger };
}

/**
 * The identity of this process and machine, for `node: 'machine'`.
 *
 * @throws InvalidOptionError when the machine has no MAC address, or this thread shares no memory with its process
 */
function machineIdentity(): Identity {
  const facts = machineFacts();
  const shared = sharedProcess();
  if (!facts?.mac) {
    throw new InvalidOptionError(
      `node "machine" needs ${facts ? 'a MAC address, but no network interface of this machine has one' : 'the process id and MAC address, which this runtime does not expose'}; use node "auto", "random" or a lease`,
    );
  }
  if (!shared) {
    throw new InvalidOptionError(
      'node "machine" could repeat ids of other threads here; import idsmith in the main thread before it starts workers, or use node "auto", "random" or a lease',
    );
  }
  return { node: { processId: facts.pid % 65536, mac: facts.mac }, source: 'machine', ledger: shared.ledger };
}
