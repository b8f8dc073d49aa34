/** 53 bits of a text, as a whole number from 1. Texts that differ rarely have the same. */
export function hashOf(text: string): number {
  let high = 0x2545f491;
  let low = 0x9e3779b9;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low + code, 0x85ebca6b);
    low ^= low >>> 15;
  }
  // The upper bits of a product depend on more than the lower ones: bring them down.
  high = Math.imul(high ^ (high >>> 16) ^ low, 0xc2b2ae35);
  low = Math.imul(low ^ (high >>> 13), 0x27d4eb2f);
  return ((high ^ (high >>> 15)) & 0x1fffff) * 2 ** 32 + ((low ^ (low >>> 16)) >>> 0) || 1;
}

/** A set of numbers from 1 to 2^53 − 1, with 8 bytes a slot. */
export class HashSet {
  #slots: Float64Array;
  #size = 0;

  /** @param expected the number of members to make room for */
  constructor(expected: number) {
    this.#slots = new Float64Array(slotsFor(expected));
  }

  /** Adds a member. Returns false if it was there. */
  add(member: number): boolean {
    if (this.#size * 4 >= this.#slots.length * 3) this.#grow();
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = (member ^ (member / 2 ** 32)) & mask;
    for (; slots[at] !== 0; at = (at + 1) & mask) if (slots[at] === member) return false;
    slots[at] = member;
    this.#size++;
    return true;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Float64Array(before.length * 2);
    this.#size = 0;
    for (const member of before) if (member !== 0) this.add(member);
  }
}

/** A power of two with room for `expected` at three quarters. */
function slotsFor(expected: number): number {
  return 2 ** Math.max(8, Math.ceil(Math.log2(Math.max(1, expected) * (4 / 3))));
}
