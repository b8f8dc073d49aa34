import { requireNamespace, requireTrial } from '../../lease/namespace.js';
import type { LeaseRecord, LeaseStore } from '../../lease/port.js';
import { NAMESPACE_ID } from '../../lease/protocol.js';
import { DURABLE, FORGETFUL } from '../../redis/script-constants.js';
import { LIST_LEASES, READ_LEASES, READ_TIME, REMOVE_LEASES, SWAP_LEASE } from '../../redis/scripts.js';
import type { StoreScripts } from './schema.js';

/** Leases in Redis: one hash for each namespace. */
export function redisLeases(
  runner: StoreScripts,
  durable: boolean,
  maxTtl: number | undefined,
): Pick<LeaseStore, 'now' | 'listLeases' | 'readLeases' | 'swapLease' | 'claimLease' | 'removeTrial'> {
  const trust = durable ? DURABLE : FORGETFUL;
  const swap = async (
    namespace: string,
    expected: LeaseRecord | undefined,
    next: LeaseRecord,
    birth: string,
  ) => {
    const before = expected === undefined ? '' : comparedText(expected);
    const after = comparedText(next) + next.label;
    // The date of a namespace must not be written for a namespace that was lost since: see LeaseStore.durable.
    const notAfter =
      next.id === NAMESPACE_ID && maxTtl !== undefined ? next.fence - maxTtl : Number.MAX_SAFE_INTEGER;
    const args = [trust, next.id, before, after, notAfter, birth];
    return Number(await runner.run('swapping a lease', SWAP_LEASE, [keyOf(namespace)], args)) === 1;
  };
  return {
    async now() {
      // A Cluster chooses the node by the key, so the same node always answers.
      const reply = await runner.run('reading the clock', READ_TIME, ['idsmith:clock']);
      const [seconds, micros] = (reply as unknown[]).map(Number) as [number, number];
      return seconds * 1000 + Math.floor(micros / 1000);
    },

    async listLeases(namespace) {
      const reply = await runner.run('listing leases', LIST_LEASES, [keyOf(namespace)], [trust]);
      return recordsIn(reply);
    },

    async readLeases(namespace, first, count) {
      const args = [trust, first, first + count - 1];
      return recordsIn(await runner.run('reading leases', READ_LEASES, [keyOf(namespace)], args));
    },

    swapLease: (namespace, expected, next) => swap(namespace, expected, next, ''),

    claimLease: (namespace, expected, next, birth) => swap(namespace, expected, next, comparedText(birth)),

    async removeTrial(namespace) {
      await runner.run('removing leases', REMOVE_LEASES, [keyOf(requireTrial(namespace))]);
    },
  };
}

// The braces make a Cluster choose the slot by the namespace alone. The encoded namespace has no braces of its own.
const keyOf = (namespace: string) => `idsmith:lease:{${encodeURIComponent(requireNamespace(namespace))}}`;

/** The part of a record that a swap compares: one line, always the same text for the same values. The label follows. */
const comparedText = ({ id, owner, epoch, fence, expiresAt }: LeaseRecord) =>
  `${JSON.stringify([id, owner, epoch, fence, expiresAt])}\n`;

/** The records among the values of a hash. */
function recordsIn(reply: unknown): LeaseRecord[] {
  return (reply as unknown[])
    .map(String)
    .filter((value) => value.startsWith('['))
    .map(decode);
}

function decode(value: string): LeaseRecord {
  const end = value.indexOf('\n');
  const [id, owner, epoch, fence, expiresAt] = JSON.parse(value.slice(0, end));
  return { id, owner, epoch, fence, expiresAt, label: value.slice(end + 1) };
}
