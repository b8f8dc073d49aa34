import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Place } from '../target.js';

/** What a half-open connection loses: all that is sent, or the server's answers to requests that reach it. */
export type Loss = 'everything' | 'answers';

/** One client's connection and its continuation to the server. */
interface Link {
  readonly client: Socket;
  readonly server: Socket;
  /** Set once the connection is half-open. It stays half-open then: nobody is told, and nothing is sent again. */
  lost?: Loss;
}

/** A TCP proxy on 127.0.0.1 that can break the connections through it. */
export class FaultyProxy {
  readonly #target: Place;
  readonly #listener: Server;
  readonly #links = new Set<Link>();
  #isCut = false;
  #delay = 0;
  #loss: Loss | undefined;

  private constructor(target: Place) {
    this.#target = target;
    this.#listener = createServer((client) => this.#accept(client));
  }

  /** Opens a proxy before a server, which may be a port of this machine. */
  static async before(target: Place | number): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(typeof target === 'number' ? { host: '127.0.0.1', port: target } : target);
    await new Promise<void>((listening) => proxy.#listener.listen(0, '127.0.0.1', listening));
    return proxy;
  }

  /** The port for clients. */
  get port(): number {
    return (this.#listener.address() as { port: number }).port;
  }

  /** The address for clients. */
  get place(): Place {
    return { host: '127.0.0.1', port: this.port };
  }

  /** Resets every connection. */
  reset(): void {
    for (const link of this.#links) reset(link);
  }

  /** Resets every connection, and each new one, until it is healed. */
  cut(): void {
    this.#isCut = true;
    this.reset();
  }

  /** Holds back everything that is sent by this many ms, until it is healed. */
  delay(ms: number): void {
    this.#delay = ms;
  }

  /** Forwards nothing more on any connection, and nothing on new ones until it is healed. All of them stay open. */
  halfOpen(loss: Loss): void {
    this.#loss = loss;
    for (const link of this.#links) link.lost = loss;
  }

  /** Lets new connections work again. Half-open ones stay so, as after a router has forgotten them. */
  heal(): void {
    this.#isCut = false;
    this.#delay = 0;
    this.#loss = undefined;
  }

  /** Ends the proxy, with all connections. */
  async close(): Promise<void> {
    this.cut();
    await new Promise((closed) => this.#listener.close(closed));
  }

  #accept(client: Socket): void {
    const server = dial(this.#target.port, this.#target.host);
    const link: Link = { client, server, ...(this.#loss && { lost: this.#loss }) };
    this.#links.add(link);
    this.#forward(client, server, () => link.lost === 'everything');
    this.#forward(server, client, () => link.lost !== undefined);
    if (this.#isCut) reset(link);
    client.on('close', () => {
      this.#links.delete(link);
      server.destroy();
    });
  }

  /** Forwards in order, also when the delay changes while something is held back. */
  #forward(from: Socket, to: Socket, isLost: () => boolean): void {
    let last = Promise.resolve();
    const later = (send: () => void) => {
      const due = Date.now() + this.#delay;
      last = last.then(async () => {
        if (due > Date.now()) await sleep(due - Date.now());
        if (!isLost() && !to.destroyed) send();
      });
    };
    from.on('data', (chunk) => later(() => to.write(chunk)));
    from.on('end', () => later(() => to.end()));
    from.on('close', (hadError) => later(() => (hadError ? resetSocket(to) : to.end())));
    // 'close' passes the failure on.
    from.on('error', () => {});
  }
}

function reset({ client, server }: Link): void {
  resetSocket(client);
  server.destroy();
}

/** Ends a connection so that the other side gets an error, unless this side has said that it sends no more. */
export function resetSocket(socket: Socket): void {
  // Node keeps the handle of such a socket for ever if it is reset, and the process does not end.
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
