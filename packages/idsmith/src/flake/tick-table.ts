import { InvalidOptionError } from '../errors.js';

// Generators of one process with the same layout and the same fixed node must not mint in the same tick. So all threads
// share a table in memory, with a slot for each layout and node. A generator claims a whole tick in the slot before it uses
// the tick. Ticks are claimed in ascending order only, so one number tells which ticks are taken.
//
// Example: threads A and B both mint for node 3. A claims tick 500 and may use all its sequence numbers. B reads the same
// millisecond, finds 500 taken, and claims 501 when the clock gets there. A reads 501, too, and continues in 500 while 500
// has numbers left.

// A slot has three words of 64 bits: the digest of layout and node, or 0 in an empty slot; the claim, which is the highest
// claimed tick plus one (54 bits) and the group that claimed it (10 bits); the number of groups so far.
const WORDS = 3;
const GROUP_BITS = 10n;
const MAX_GROUP = 2n ** GROUP_BITS - 1n;

/** The data that threads of one group need to claim ticks together. */
export interface SlotHandle {
  readonly memory: SharedArrayBuffer;
  readonly slot: number;
  readonly group: number;
}

/** The ticks of one layout and one fixed node, from the view of one claimer. */
export class TickSlot {
  readonly #words: BigUint64Array;
  readonly #slot: number;
  /** The group of this claimer. Members of a group share their claims; members of group 0 do not. */
  readonly #group: bigint;

  /** @internal */
  constructor(words: BigUint64Array, slot: number, group: bigint) {
    this.#words = words;
    this.#slot = slot;
    this.#group = group;
  }

  /**
   * The slot of `key` in a table. Takes an empty slot if the key has none yet.
   *
   * @throws InvalidOptionError when the table is full
   */
  static of(memory: ArrayBufferLike, key: string): TickSlot {
    const words = new BigUint64Array(memory);
    const slots = Math.floor(words.length / WORDS);
    const digest = digestOf(key);
    const first = Number(digest % BigInt(slots));
    for (let i = 0; i < slots; i++) {
      const slot = (first + i) % slots;
      const found = Atomics.compareExchange(words, WORDS * slot, 0n, digest);
      if (found === 0n || found === digest) return new TickSlot(words, slot, 0n);
    }
    throw new InvalidOptionError(
      `node must be a lease: this process has already used ${slots} different fixed nodes, and cannot keep more of them apart`,
    );
  }

  /** The slot from the view of a member of the handle's group. */
  static attach({ memory, slot, group }: SlotHandle): TickSlot {
    return new TickSlot(new BigUint64Array(memory), slot, BigInt(group));
  }

  /** A handle for a new group. When all group numbers are used, its members claim ticks separately. */
  newGroup(): SlotHandle {
    const group = Atomics.add(this.#words, WORDS * this.#slot + 2, 1n) + 1n;
    const memory = this.#words.buffer as SharedArrayBuffer;
    return { memory, slot: this.#slot, group: group > MAX_GROUP ? 0 : Number(group) };
  }

  /** The highest tick that others have taken, or the tick before the own claim; −1 if there is none. */
  get taken(): number {
    const claim = Atomics.load(this.#words, WORDS * this.#slot + 1);
    return tickOf(claim) - (this.#isOurs(claim) ? 1 : 0);
  }

  /** Claims `tick` and all free ticks before it. Returns true if `tick` now belongs to this claimer or its group. */
  claim(tick: number): boolean {
    const at = WORDS * this.#slot + 1;
    for (;;) {
      const claim = Atomics.load(this.#words, at);
      if (tickOf(claim) >= tick) return tickOf(claim) === tick && this.#isOurs(claim);
      const ours = (BigInt(tick + 1) << GROUP_BITS) | this.#group;
      if (Atomics.compareExchange(this.#words, at, claim, ours) === claim) return true;
    }
  }

  #isOurs(claim: bigint): boolean {
    return this.#group !== 0n && (claim & MAX_GROUP) === this.#group;
  }
}

function tickOf(claim: bigint): number {
  return Number(claim >> GROUP_BITS) - 1;
}

/** The FNV-1a hash of the key, 64 bits, never 0. Keys with one hash share a slot, and only wait for each other more often. */
function digestOf(key: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (let i = 0; i < key.length; i++)
    hash = BigInt.asUintN(64, (hash ^ BigInt(key.charCodeAt(i))) * 0x100000001b3n);
  return hash || 1n;
}
