import { machineNode } from '#runtime';
import { InvalidOptionError } from '../errors.js';
import { requireInteger, show } from '../options.js';
import type { RandomSource } from '../random.js';
import type { MachineNode } from '../runtime/machine.js';

/**
 * A node of 44 random bits, for machines whose process ids and MAC addresses repeat, as in containers.
 * Among a million such nodes the odds that any two are alike are about 1 in 35.
 */
export function randomNode(random: RandomSource): MachineNode {
  const bytes = new Uint8Array(8);
  random.fill(bytes);
  return { processId: new DataView(bytes.buffer).getUint16(0), mac: bytes.subarray(2) };
}

/**
 * The option `node` as a node.
 *
 * @throws InvalidOptionError when it is neither `'random'` nor a process id with a MAC address of six bytes
 */
export function requireNode(node: MachineNode | 'random', random: RandomSource): MachineNode {
  if (node === 'random') return randomNode(random);
  if (typeof node !== 'object' || node === null) {
    throw new InvalidOptionError(`node must be "random" or { processId, mac }, not ${show(node)}`);
  }
  const processId = requireInteger('node.processId', node.processId, 0, Number.MAX_SAFE_INTEGER);
  if (!(node.mac instanceof Uint8Array) || node.mac.length !== 6) {
    throw new InvalidOptionError(`node.mac must be a Uint8Array of 6 bytes, not ${show(node.mac)}`);
  }
  return { processId: processId % 65536, mac: node.mac.slice() };
}

/** This process on this machine, read once; `undefined` where the runtime has no such thing. */
export const thisMachine = once(machineNode);

function once<T>(read: () => T): () => T {
  let value: { read: T } | undefined;
  return () => {
    value ??= { read: read() };
    return value.read;
  };
}
