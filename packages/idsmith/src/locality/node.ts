import { machineNode, processLedger } from '#runtime';
import { systemClock } from '../clock.js';
import { bindLease, type Leasable } from '../lease/window.js';
import { isA, refuse, requireInteger } from '../options.js';
import type { RandomSource } from '../random.js';
import type { MachineNode } from '../runtime/machine.js';
import type { LocalityOptions } from './options.js';
import { privateLedger } from './timeline.js';

let machine: MachineNode | undefined;

/**
 * Which node to write into ids, and the ledger that keeps its generators apart.
 *
 * All generators of a process that take its own identity, in whatever thread, must not meet. Who sets the clock, the
 * counter or the node decides for themselves. A worker thread that inherited no ledger cannot know of the others,
 * and takes a random node.
 */
export function chooseNode(
  { node, clock = systemClock, counter }: LocalityOptions,
  random: RandomSource,
): { node: MachineNode; ledger: ArrayBufferLike } {
  if (node === 'random') return { node: randomNode(random), ledger: privateLedger() };
  if (isLease(node)) return { node: leasedNode(0), ledger: privateLedger() };
  if (node !== undefined) return { node: requireNode(node), ledger: privateLedger() };
  const ledger = processLedger();
  machine ??= machineNode();
  if (!machine || !ledger) return { node: randomNode(random), ledger: privateLedger() };
  const usual = clock === systemClock && counter === undefined;
  return { node: machine, ledger: usual ? ledger : privateLedger() };
}

/**
 * A node of 44 random bits, for machines whose process ids and MAC addresses repeat, as in containers.
 * Among a million such nodes the odds that any two are alike are about 1 in 35.
 */
function randomNode(random: RandomSource): MachineNode {
  const bytes = new Uint8Array(8);
  random.fill(bytes);
  return { processId: ((bytes[0] as number) << 8) | (bytes[1] as number), mac: bytes.slice(2) };
}

/** Whether the option `node` is a lease. */
export function isLease(node: LocalityOptions['node']): node is Leasable {
  return typeof (node as Leasable | undefined)?.[bindLease] === 'function';
}

/** A leased node id in the 44 bits of identity: the lowest 16 as the process id, the rest from the end of the MAC address. */
export function leasedNode(id: number): MachineNode {
  const high = Math.floor(id / 65536);
  return {
    processId: id % 65536,
    mac: Uint8Array.of(0, 0, (high >>> 24) & 15, high >>> 16, high >>> 8, high),
  };
}

/**
 * A node that was given, copied.
 *
 * @throws InvalidOptionError when it is not a process id with a MAC address of six bytes
 */
export function requireNode(node: MachineNode): MachineNode {
  if (typeof node !== 'object' || node === null) refuse('node', '"random" or { processId, mac }', node);
  const { processId, mac } = node;
  requireInteger('node.processId', processId, 0, Number.MAX_SAFE_INTEGER);
  if (!isA('Uint8Array', mac) || mac.length !== 6) refuse('node.mac', 'a Uint8Array of 6 bytes', mac);
  return { processId: processId % 65536, mac: Uint8Array.from(mac) };
}
