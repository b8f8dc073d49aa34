import { machineFacts, processMemory } from '#runtime';
import { InvalidOptionError } from '../errors.js';
import { type RandomSource, systemRandom } from '../random.js';
import type { MachineFacts, MachineNode } from '../runtime/machine.js';
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
 * The reasons why another process may have the same process id and MAC address. Empty if there is none.
 *
 * Ids have 16 bits of the process id and 28 bits of the MAC address. In leased nodes the upper 12 of the 28 bits are zero.
 */
export function doubts({ pid, mac, signs }: MachineFacts): string[] {
  const found = signs.map((sign) => `sign of a container: ${sign}`);
  if (pid < 2) found.push(`process id ${pid}, as in every container`);
  if (pid > 0xffff) found.push(`process id ${pid}, which does not fit 16 bits`);
  if (!mac) found.push('no MAC address');
  else if (((mac[0] as number) & 0x03) !== 0) found.push('a locally administered MAC address');
  else if (isVirtual(mac)) found.push('a MAC address of a virtual machine, which clones may share');
  else if (looksLeased(mac)) found.push('a MAC address that equals a leased node id');
  return found;
}

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

/** The first three bytes of MAC addresses that virtual machines have: VMware, VirtualBox, Hyper-V, Xen, Parallels, Azure. */
const VIRTUAL_VENDORS = [
  0x000569, 0x000c29, 0x001c14, 0x005056, 0x080027, 0x00155d, 0x00163e, 0x001c42, 0x000d3a, 0x002248,
  0x6045bd, 0x7c1e52,
];

function isVirtual([byte0 = 0, byte1 = 0, byte2 = 0]: Uint8Array): boolean {
  return VIRTUAL_VENDORS.includes((byte0 << 16) | (byte1 << 8) | byte2);
}

/** True if the 12 MAC bits that are zero in leased nodes are zero. */
function looksLeased(mac: Uint8Array): boolean {
  return ((mac[2] as number) & 15) === 0 && mac[3] === 0;
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
  const memory = processMemory();
  if (!memory) {
    alone ??= { node: randomNode(systemRandom), source: 'random', ledger: privateLedger() };
    return alone;
  }
  const word = new BigUint64Array(memory.identity);
  if (Atomics.load(word, 0) === 0n) {
    const facts = machineFacts();
    const isOwn = facts?.mac !== undefined && doubts(facts).length === 0;
    const node = isOwn ? { processId: facts.pid, mac: facts.mac as Uint8Array } : randomNode(systemRandom);
    // The word is never zero: a random node has its mark, and a machine's process id is at least 2.
    Atomics.compareExchange(word, 0, 0n, wordOf(node));
  }
  const node = nodeOf(Atomics.load(word, 0));
  return { node, source: node.mac[0] === RANDOM_MAC ? 'random' : 'machine', ledger: memory.ledger };
}

/**
 * The identity of this process and machine, for `node: 'machine'`.
 *
 * @throws InvalidOptionError when the machine has no MAC address, or this thread shares no memory with its process
 */
export function machineIdentity(): Identity {
  const facts = machineFacts();
  const memory = processMemory();
  if (!facts?.mac) {
    throw new InvalidOptionError(
      `node "machine" needs ${facts ? 'a MAC address, but no network interface of this machine has one' : 'the process id and MAC address, which this runtime does not expose'}; use node "auto", "random" or a lease`,
    );
  }
  if (!memory) {
    throw new InvalidOptionError(
      'node "machine" could repeat ids of other threads here; import idsmith in the main thread before it starts workers, or use node "auto", "random" or a lease',
    );
  }
  return { node: { processId: facts.pid % 65536, mac: facts.mac }, source: 'machine', ledger: memory.ledger };
}

function wordOf({ processId, mac }: MachineNode): bigint {
  return mac.reduce((word, byte) => (word << 8n) | BigInt(byte), BigInt(processId));
}

function nodeOf(word: bigint): MachineNode {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, word);
  return { processId: ((bytes[0] as number) << 8) | (bytes[1] as number), mac: bytes.slice(2) };
}
