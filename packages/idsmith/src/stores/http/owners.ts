import { bytesToHex } from '../../encoding/hex.js';
import type { LeaseRecord } from '../../lease/port.js';

// The owner of a lease is a secret of its holder: whoever knows it can renew and release the lease. So a server shows a digest
// of it, and a holder finds its own records by the digests of the owners that it has sent.

/** The most owners to remember. A record whose owner is forgotten counts as somebody else's, which is safe. */
const MOST = 10_000;

/** What may be shown of an owner: 128 bits of its SHA-256. */
export async function digestOf(owner: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(owner));
  return `sha256:${bytesToHex(new Uint8Array(bytes).subarray(0, 16))}`;
}

/** The owners that a store has sent, by their digests. */
export class SentOwners {
  readonly #owners = new Map<string, string>();

  /** To be called before the owner is sent: its answer may be lost, and the record found later. */
  async remember(owner: string | null): Promise<void> {
    // Pages without TLS have no digests. All records are others' there, so that a lost answer costs the lease.
    if (owner === null || crypto.subtle === undefined) return;
    const digest = await digestOf(owner);
    this.#owners.delete(digest);
    this.#owners.set(digest, owner);
    const [oldest] = this.#owners.keys();
    if (this.#owners.size > MOST) this.#owners.delete(oldest as string);
  }

  /** The record with its owner, if that was sent from here. */
  reveal(record: LeaseRecord): LeaseRecord {
    const owner = record.owner === null ? undefined : this.#owners.get(record.owner);
    return owner === undefined ? record : { ...record, owner };
  }
}
