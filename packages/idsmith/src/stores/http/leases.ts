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
): Required<Pick<LeaseStore, 'now' | 'listLeases' | 'swapLease'>> {
  const owners = new SentOwners();
  return {
    now: () =>
      askServer(get('reading the clock', '/v1/server'), (reply) => {
        learn(reply);
        return reply.integer('now');
      }),

    async listLeases(namespace) {
      return askServer(get('listing leases', leasesPath(namespace)), (reply) => {
        learn(reply);
        // A server of an earlier version lists the records of the namespace itself among the leases.
        const own = reply.has('own') ? reply.list('own') : [];
        return [...own, ...reply.list('leases')].map((each) => owners.reveal(leaseIn(each)));
      });
    },

    async swapLease(namespace, expected, next) {
      const path = `${leasesPath(namespace)}/swap`;
      const body = { expected: expected ?? null, next };
      await owners.remember(next.owner);
      // A repeated swap is recognised by the server, which remembers its reply, or refused by the store.
      const request = post('swapping a lease', path, body, true);
      return askServer(request, (reply) => reply.boolean('swapped'));
    },
  };
}
