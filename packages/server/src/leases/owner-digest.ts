import { createHash } from 'node:crypto';
import type { LeaseRecord } from 'idsmith';

// The owner of a lease is the secret by which its holder renews and releases it. Others see a digest of it.

/** 128 bits of SHA-256, as `httpStore` makes them, too. */
export function digestOf(owner: string): string {
  return `sha256:${createHash('sha256').update(owner).digest('hex').slice(0, 32)}`;
}

export function isDigest(owner: string | null): owner is string {
  return owner !== null && /^sha256:[0-9a-f]{32}$/.test(owner);
}

/** A record as anybody may see it. The records of a namespace itself, with ids below 0, have no secrets. */
export function withoutSecret(record: LeaseRecord): LeaseRecord {
  const { id, owner } = record;
  return id < 0 || owner === null ? record : { ...record, owner: digestOf(owner) };
}
