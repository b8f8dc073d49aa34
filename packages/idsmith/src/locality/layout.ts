// A locality UUID is four big-endian 32-bit words:
//
//   0  the counter, in the order its mode writes it
//   1  process id (16 bits), version (4), MAC byte 2's low nibble (4), MAC byte 3 (8)
//   2  MAC bytes 4 and 5 (16), upper 16 bits of the time
//   3  lower 32 bits of the time
//
// The RFC 9562 flavour has 8 for the version and sets the top two bits of word 2 to `10`, so that two of the
// 28 MAC bits give way.

import { high16 } from '../encoding/bits.js';
import type { MachineNode } from '../runtime/machine.js';

/** `'locality'` is upstream's version b; `'rfc9562'` a standard version 8 with the same fields. */
export type Flavour = 'locality' | 'rfc9562';

/** The last millisecond that fits 48 bits: the year 10889. */
export const MAX_MS = 2 ** 48 - 1;

/** Words 1 and 2 with the time left zero: what all ids of a generator have in common. */
export interface IdentityWords {
  readonly word1: number;
  readonly word2: number;
}

export function identityWords(node: MachineNode, flavour: Flavour): IdentityWords {
  const [, , mac2, mac3, mac4, mac5] = node.mac as unknown as number[] as [
    0,
    0,
    number,
    number,
    number,
    number,
  ];
  const nibbles = ((mac2 & 15) << 8) | mac3;
  const word1 = ((node.processId & 0xffff) << 16) | (flavour === 'rfc9562' ? 0x8000 : 0xb000) | nibbles;
  const word2 = (mac4 << 24) | (mac5 << 16);
  return { word1, word2: flavour === 'rfc9562' ? withVariant(word2) : word2 };
}

/** Word 2 with the variant bits of RFC 9562. */
export function withVariant(word2: number): number {
  return (word2 & 0x3fffffff) | (1 << 31);
}

/** Word 2 with the upper bits of the time. */
export function stampWord2(word2: number, ms: number): number {
  return word2 | high16(ms);
}
