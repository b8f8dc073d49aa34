import { InvalidOptionError } from '../../errors.js';
import { requireTrial } from '../../lease/namespace.js';
import type { LeaseStore } from '../../lease/port.js';
import type { AskServer } from './connection.js';
import { SentOwners } from './owners.js';
import { get, leasesPath, post } from './request.js';
import { leaseIn, type ServerReply } from './server-reply.js';

/**
 * Leases behind a server.
 *
 * @param learn is called with every reply that tells the capabilities of the store behind the server
 */
export function httpLeases(
  askServer: AskServer,
  learn: (reply: ServerReply) => void,
): Required<Pick<LeaseStore, 'now' | 'listLeases' | 'readLeases' | 'swapLease' | 'removeTrial'>> {
  const owners = new SentOwners();
  /** False once the server has refused to list a part of a namespace, as one of an earlier version does. */
  let hasPages = true;
  const list = (what: string, path: string) =>
    askServer(get(what, path), (reply) => {
      learn(reply);
      // A server of an earlier version lists the records of the namespace itself among the leases.
      const own = reply.has('own') ? reply.list('own') : [];
      return [...own, ...reply.list('leases')].map((each) => owners.reveal(leaseIn(each)));
    });
  return {
    now: () =>
      askServer(get('reading the clock', '/v1/server'), (reply) => {
        learn(reply);
        return reply.integer('now');
      }),

    listLeases: async (namespace) => list('listing leases', leasesPath(namespace)),

    async readLeases(namespace, first, count) {
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
    },

    async swapLease(namespace, expected, next) {
      const path = `${leasesPath(namespace)}/swap`;
      const body = { expected: expected ?? null, next };
      await owners.remember(next.owner);
      // A repeated swap is recognised by the server, which remembers its reply, or refused by the store.
      const request = post('swapping a lease', path, body, true);
      return askServer(request, (reply) => reply.boolean('swapped'));
    },

    async removeTrial(namespace) {
      const path = leasesPath(requireTrial(namespace));
      await askServer({ what: 'removing leases', method: 'DELETE', path, isRepeatable: true }, () => {});
    },
  };
}
