import { requireNamespace, requireTrial, STORE_NAMESPACE } from '../../lease/namespace.js';
import type { LeaseRecord, LeaseStore } from '../../lease/port.js';
import { lineageOf, NAMESPACE_ID } from '../../lease/protocol.js';
import { REGISTRY, type Registry } from './registry.js';
import type { StoreScripts } from './schema.js';
import { DELETE_KEY, LIST_LEASES, READ_LEASES, READ_MOMENT, SWAP_LEASE } from './scripts.js';
import { redisMs } from './sequences.js';

/** Leases in Redis: one hash for each namespace. */
export function redisLeases(scripts: StoreScripts, registry: Registry, durable: boolean): LeaseStore {
  async function moment(namespace: string) {
    // A Cluster chooses the node by the key, so the node of the namespace answers.
    const reply = await scripts.run('reading the clock', READ_MOMENT, [keyOf(namespace)]);
    const [seconds, micros, lineage] = reply as unknown[];
    return { now: redisMs([seconds, micros]), lineage: String(lineage) };
  }

  async function swap(
    namespace: string,
    expected: LeaseRecord | undefined,
    next: LeaseRecord,
    birth?: LeaseRecord,
  ): Promise<boolean> {
    const { id, owner, epoch } = next;
    const key = keyOf(namespace);
    const isClaim = id >= 0 && owner !== null && epoch !== expected?.epoch;
    if (isClaim) await registry.listNamespace(namespace);
    const isBirth = id === NAMESPACE_ID;
    const lineage = (!durable && lineageOf(isBirth ? next : birth)) || '';
    const args = [
      id,
      expected === undefined ? '' : comparedText(expected),
      comparedText(next) + next.label,
      lineage,
      birth === undefined ? '' : comparedText(birth),
      isClaim && !durable ? 1 : 0,
    ];
    return Number(await scripts.run('swapping a lease', SWAP_LEASE, [key], args)) === 1;
  }

  return {
    durable,

    now: async () => (await moment(STORE_NAMESPACE)).now,

    ...(!durable && { moment, isNewNamespace: (namespace) => registry.isNewNamespace(namespace) }),

    namespaces: () => registry.names('namespace'),

    async listLeases(namespace) {
      return recordsIn(await scripts.run('listing leases', LIST_LEASES, [keyOf(namespace)]));
    },

    async readLeases(namespace, first, count) {
      const args = [first, first + count - 1];
      return recordsIn(await scripts.run('reading leases', READ_LEASES, [keyOf(namespace)], args));
    },

    swapLease: (namespace, expected, next) => swap(namespace, expected, next),

    claimLease: swap,

    async removeTrial(namespace) {
      await scripts.run('removing leases', DELETE_KEY, [keyOf(requireTrial(namespace))]);
      await registry.removeNamespace(namespace);
    },
  };
}

// The braces make a Cluster choose the slot by the namespace alone. The encoded namespace has no braces of its own.
const keyOf = (namespace: string) =>
  namespace === STORE_NAMESPACE
    ? REGISTRY
    : `idsmith:lease:{${encodeURIComponent(requireNamespace(namespace))}}`;

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
