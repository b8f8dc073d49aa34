import type { MachineFacts, MachineNode } from './machine.js';

/**
 * The reasons why another process may have the same process id and MAC address. Empty if there is none.
 *
 * Ids have 16 bits of the process id and 28 bits of the MAC address. In leased nodes the upper 12 of the 28 bits are zero.
 *
 * @param facts the process id, the MAC address, and signs of a container
 */
export function doubtsOf({
  pid,
  mac,
  signs,
}: Omit<MachineFacts, 'doubts'> & { signs: readonly string[] }): string[] {
  const found = signs.map((sign) => `sign of a container: ${sign}`);
  if (pid < 2) found.push(`process id ${pid}, as in every container`);
  if (pid > 0xffff) found.push(`process id ${pid}, which does not fit 16 bits`);
  if (!mac) found.push('no MAC address');
  else if (((mac[0] as number) & 0x03) !== 0) found.push('a locally administered MAC address');
  else if (isVirtual(mac)) found.push('a MAC address of a virtual machine, which clones may share');
  else if (looksLeased(mac)) found.push('a MAC address that equals a leased node id');
  return found;
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

/**
 * The node that all threads of this process share. The first call decides it.
 *
 * @param identity eight bytes of memory that the threads share, zero before the first call
 * @param random gives a node whose MAC address does not begin with zero, for a machine whose own node others may have
 */
export function sharedNode(
  identity: SharedArrayBuffer,
  facts: () => MachineFacts | undefined,
  random: () => MachineNode,
): MachineNode {
  const word = new BigUint64Array(identity);
  if (Atomics.load(word, 0) === 0n) {
    const { pid, mac, doubts } = facts() ?? {};
    const isOwn = pid !== undefined && mac !== undefined && doubts?.length === 0;
    // The word is never zero: a random node has its mark, and a machine's process id is at least 2.
    Atomics.compareExchange(word, 0, 0n, wordOf(isOwn ? { processId: pid, mac } : random()));
  }
  return nodeOf(Atomics.load(word, 0));
}

function wordOf({ processId, mac }: MachineNode): bigint {
  return mac.reduce((word, byte) => (word << 8n) | BigInt(byte), BigInt(processId));
}

function nodeOf(word: bigint): MachineNode {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, word);
  return { processId: ((bytes[0] as number) << 8) | (bytes[1] as number), mac: bytes.slice(2) };
}
