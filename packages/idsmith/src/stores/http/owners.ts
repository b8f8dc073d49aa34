import { bytesToHex } from '../../encoding/hex.js';
import type { LeaseRecord } from '../../lease/port.js';

// The owner of a lease is a secret of its holder: whoever knows the owner can renew and release the lease. So a server shows a
// digest of the owner. A holder finds its own records by the digests of the owners that it has sent.

/** The most owners to remember. A record with a forgotten owner counts as somebody else's, which is safe. */
const MAX_OWNERS = 10_000;

/** The digest of an owner, which may be shown: 128 bits of its SHA-256. */
export async function digestOf(owner: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(owner));
  return `sha256:${bytesToHex(new Uint8Array(bytes).subarray(0, 16))}`;
}

/** The owners that a store has sent, by their digests. */
export class SentOwners {
  readonly #owners = new Map<string, string>();

  /** Remembers an owner. Call this before sending the owner: the reply may be lost, and the record found later. */
  async remember(owner: string | null): Promise<void> {
    // A page without TLS cannot make digests. All records count as others' there, so a lost reply costs the lease.
    if (owner === null || crypto.subtle === undefined) return;
    const digest = await digestOf(owner);
    this.#owners.delete(digest);
    this.#owners.set(digest, owner);
    const [oldest] = this.#owners.keys();
    if (this.#owners.size > MAX_OWNERS) this.#owners.delete(oldest as string);
  }

  /** The record with its owner, if this store has sent the owner. */
  reveal(record: LeaseRecord): LeaseRecord {
    const owner = record.owner === null ? undefined : this.#owners.get(record.owner);
    return owner === undefined ? record : { ...record, owner };
  }
}
