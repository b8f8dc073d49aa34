import { sha256Hex } from '../../encoding/hex.js';
import { InvalidOptionError, StoreError } from '../../errors.js';
import { requireTrial } from '../../lease/namespace.js';
import { type LeaseRecord, type LeaseStore, sameRecord } from '../../lease/port.js';
import { type AskServer, get, leasesPath, post } from './connection.js';
import { leaseIn, type ServerReply } from './server-reply.js';

/**
 * Leases behind a server.
 *
 * @param learn is called with every reply that tells the capabilities of the store behind the server
 */
export function httpLeases(
  askServer: AskServer,
  learn: (reply: ServerReply) => void,
): Required<
  Pick<
    LeaseStore,
    'now' | 'moment' | 'namespaces' | 'listLeases' | 'readLeases' | 'swapLease' | 'claimLease' | 'removeTrial'
  >
> {
  const owners = new SentOwners();
  /** False once the server has refused to list a part of a namespace, as one of an earlier version does. */
  let hasPages = true;
  /** False once the server has shown that it knows of no lineage, as one of an earlier version. */
  let hasLineage = true;
  /** True once the server has told what it is, and so which libraries may use its store. */
  let hasToldItself = false;
  const list = (what: string, path: string) =>
    askServer(get(what, path), (reply) => {
      learn(reply);
      // A server of an earlier version lists the records of the namespace itself among the leases.
      const own = reply.has('own') ? reply.list('own') : [];
      return [...own, ...reply.list('leases')].map((each) => owners.reveal(leaseIn(each)));
    });
  const now = () =>
    askServer(get('reading the clock', '/v1/server'), (reply) => {
      learn(reply);
      hasToldItself = true;
      return reply.integer('now');
    });

  /** Asks what only servers with a lineage can answer; `undefined` if this one cannot. */
  async function unlessEarlier<T>(asking: () => Promise<T>): Promise<T | undefined> {
    if (!hasLineage) return undefined;
    try {
      return await asking();
    } catch (error) {
      if (!(error instanceof StoreError && error.message.includes(' HTTP 404: '))) throw error;
      hasLineage = false;
      return undefined;
    }
  }

  async function readLeases(namespace: string, first: number, count: number): Promise<LeaseRecord[]> {
    const path = leasesPath(namespace);
    if (hasPages)
      try {
        return await list('reading leases', `${path}?first=${first}&count=${count}`);
      } catch (error) {
        if (!(error instanceof InvalidOptionError)) throw error;
        hasPages = false;
      }
    const records = await list('listing leases', path);
    return records.filter(({ id }) => id < 0 || (id >= first && id < first + count));
  }

  /** A repeated swap is recognised by the server, which remembers its reply, or refused by the store. */
  async function send(namespace: string, route: 'swap' | 'claim', body: Swap): Promise<boolean> {
    await owners.remember(body.next.owner);
    const request = post('swapping a lease', `${leasesPath(namespace)}/${route}`, body, true);
    return askServer(request, (reply) => reply.boolean('swapped'));
  }

  return {
    now,

    async moment(namespace) {
      if (!hasToldItself) await now();
      const request = get('reading the lineage', `${leasesPath(namespace)}/moment`);
      const told = await unlessEarlier(() =>
        askServer(request, (reply) => ({
          now: reply.integer('now'),
          lineage: reply.has('lineage') ? reply.text('lineage') : undefined,
        })),
      );
      return told ?? { now: await now(), lineage: undefined };
    },

    namespaces: () =>
      askServer(get('listing namespaces', '/v1/leases'), (reply) =>
        reply.list('namespaces').map((each) => each.text('namespace')),
      ),

    listLeases: async (namespace) => list('listing leases', leasesPath(namespace)),

    readLeases,

    swapLease: async (namespace, expected, next) =>
      send(namespace, 'swap', { expected: expected ?? null, next }),

    async claimLease(namespace, expected, next, birth) {
      const swap = { expected: expected ?? null, next };
      const claimed = await unlessEarlier(() => send(namespace, 'claim', { ...swap, birth }));
      if (claimed !== undefined) return claimed;
      if (!(await send(namespace, 'swap', swap))) return false;
      // If the record of the namespace is the same after the claim, it was at the claim.
      const own = await readLeases(namespace, 0, 0);
      return sameRecord(
        own.find(({ id }) => id === birth.id),
        birth,
      );
    },

    async removeTrial(namespace) {
      const path = leasesPath(requireTrial(namespace));
      await askServer({ what: 'removing leases', method: 'DELETE', path, isRepeatable: true }, () => {});
    },
  };
}

interface Swap {
  readonly expected: LeaseRecord | null;
  readonly next: LeaseRecord;
  readonly birth?: LeaseRecord;
}

// The owner of a lease is a secret of its holder: whoever knows the owner can renew and release the lease. So a server shows a
// digest of the owner. A holder finds its own records by the digests of the owners that it has sent.

/** The most owners to remember. A record with a forgotten owner counts as somebody else's, which is safe. */
const MAX_OWNERS = 10_000;

/** The digest of an owner, which may be shown: 128 bits of its SHA-256. */
export async function digestOf(owner: string): Promise<string> {
  return `sha256:${(await sha256Hex(owner)).slice(0, 32)}`;
}

/** The owners that a store has sent, by their digests. */
class SentOwners {
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
