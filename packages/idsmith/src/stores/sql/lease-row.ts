import type { LeaseRecord } from '../../lease/port.js';
import { exactInteger, plainText } from './values.js';

/** The lease record of a row whose columns are in the order of the record's fields. Names and types do not matter. */
export function leaseRecord(row: unknown): LeaseRecord {
  const [id, owner, epoch, fence, expiresAt, label] = Object.values(row as object);
  return {
    id: exactInteger('id', id),
    owner: owner === null ? null : plainText(owner),
    epoch: exactInteger('epoch', epoch),
    fence: exactInteger('fence', fence),
    expiresAt: exactInteger('expires_at', expiresAt),
    label: plainText(label),
  };
}
