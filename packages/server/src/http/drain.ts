import { Server } from 'node:net';
import type { Connections } from './connections.js';

/** The silence after which a connection without a request is closed, ms. */
const QUIET = 1000;

/** The interval of the search for such connections, ms. */
const INTERVAL = 25;

/**
 * Ends the connections of a server without cutting off a request. No connection is accepted any more. Each open connection gets
 * the answer to one more request, with `Connection: close`: a client that has just sent a request is not reset. A connection that
 * stays quiet is closed. After `grace` ms, all that are left are cut.
 */
export function drain(connections: Connections, grace: number): Promise<void> {
  const started = performance.now();
  const quiet = Math.min(QUIET, grace);
  connections.isDraining = true;
  // The method of HTTP servers would close all idle connections.
  for (const server of connections.servers) if (server.listening) Server.prototype.close.call(server);
  for (const { latest } of connections.all)
    if (latest !== undefined && !latest.headersSent) latest.shouldKeepAlive = false;
  return new Promise((resolve) => {
    const check = () => {
      const now = performance.now();
      const isOver = now - started >= grace;
      for (const { socket, isIdle, usedAt } of connections.all) {
        if (isOver) socket.destroy();
        else if (isIdle && now - Math.max(started, usedAt) >= quiet) socket.destroySoon();
      }
      if (connections.count > 0 && !isOver) return;
      clearInterval(timer);
      resolve();
    };
    const timer = setInterval(check, INTERVAL);
    check();
  });
}
