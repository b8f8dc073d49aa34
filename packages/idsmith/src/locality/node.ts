import { machineNode, processLedger } from '#runtime';
import { refuse, requireInteger } from '../options.js';
import type { RandomSource } from '../random.js';
import type { MachineNode } from '../runtime/machine.js';
import type { LocalityOptions } from './options.js';
import { privateLedger } from './timeline.js';

/**
 * Which node to write into ids, and the ledger that keeps its generators apart.
 *
 * All generators of a process that take its own identity, in whatever thread, must not meet. Who sets the clock, the
 * counter or the node decides for themselves. A worker thread that inherited no ledger cannot know of the others,
 * and takes a random node.
 */
export function chooseNode(
  options: LocalityOptions,
  random: RandomSource,
): { node: MachineNode; ledger: ArrayBufferLike } {
  if (options.node !== undefined) return { node: requireNode(options.node, random), ledger: privateLedger() };
  const shared = processLedger();
  machine ??= machineNode();
  if (!machine || !shared) return { node: randomNode(random), ledger: privateLedger() };
  const alone = options.clock !== undefined || options.counter !== undefined;
  return { node: machine, ledger: alone ? privateLedger() : shared };
}

let machine: MachineNode | undefined;

/**
 * A node of 44 random bits, for machines whose process ids and MAC addresses repeat, as in containers.
 * Among a million such nodes the odds that any two are alike are about 1 in 35.
 */
function randomNode(random: RandomSource): MachineNode {
  const bytes = new Uint8Array(8);
  random.fill(bytes);
  return { processId: ((bytes[0] as number) << 8) | (bytes[1] as number), mac: bytes.slice(2) };
}

/**
 * The option `node` as a node.
 *
 * @throws InvalidOptionError when it is neither `'random'` nor a process id with a MAC address of six bytes
 */
function requireNode(node: MachineNode | 'random', random: RandomSource): MachineNode {
  if (node === 'random') return randomNode(random);
  if (typeof node !== 'object' || node === null) refuse('node', '"random" or { processId, mac }', node);
  const { processId, mac } = node;
  requireInteger('node.processId', processId, 0, Number.MAX_SAFE_INTEGER);
  if (!(mac instanceof Uint8Array) || mac.length !== 6) refuse('node.mac', 'a Uint8Array of 6 bytes', mac);
  return { processId: processId % 65536, mac: mac.slice() };
}
