import { createHash } from 'node:crypto';
import type { LeaseRecord } from 'idsmith';

// The owner of a lease is a secret: with it, the holder renews and releases the lease. Others see a digest of the owner.

/** 128 bits of the SHA-256 of an owner. `httpStore` makes the same digests. */
export function digestOf(owner: string): string {
  return `sha256:${createHash('sha256').update(owner).digest('hex').slice(0, 32)}`;
}

export function isDigest(owner: string | null): owner is string {
  return owner !== null && /^sha256:[0-9a-f]{32}$/.test(owner);
}

/** The record with a digest for its owner. Records of the namespace itself, with ids below 0, hold no secret. */
export function withoutSecret(record: LeaseRecord): LeaseRecord {
  const { id, owner } = record;
  return id < 0 || owner === null ? record : { ...record, owner: digestOf(owner) };
}
