import { machineFacts, sharedProcess } from '#runtime';
import { InvalidOptionError } from '../errors.js';
import { type RandomSource, systemRandom } from '../random.js';
import type { MachineNode } from '../runtime/machine.js';
import { privateLedger } from './ledger.js';

/** An identity, and the ledger in which generators with this identity claim milliseconds. */
export interface Identity {
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
export function processIdentity(): Identity {
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
export function machineIdentity(): Identity {
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
