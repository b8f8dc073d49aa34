import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import type { ServerProcess } from './process.ts';

/** A TCP proxy that leads each new connection to the server that is chosen then. */
export class Balancer {
  readonly #choose: () => ServerProcess | undefined;
  readonly #listener: Server;
  readonly #links = new Map<Socket, ServerProcess>();

  private constructor(choose: () => ServerProcess | undefined) {
    this.#choose = choose;
    this.#listener = createServer((client) => this.#accept(client));
  }

  /** @param choose returns `undefined` to refuse the connection */
  static async open(choose: () => ServerProcess | undefined): Promise<Balancer> {
    const balancer = new Balancer(choose);
    await new Promise<void>((listening) => balancer.#listener.listen(0, '127.0.0.1', listening));
    return balancer;
  }

  get port(): number {
    return (this.#listener.address() as { port: number }).port;
  }

  /** Ends the connections to all other servers. */
  keepOnly(server: ServerProcess | undefined): void {
    for (const [client, chosen] of this.#links) if (chosen !== server) client.destroy();
  }

  close(): void {
    this.#listener.close();
    this.keepOnly(undefined);
  }

  #accept(client: Socket): void {
    client.on('error', () => client.destroy());
    const chosen = this.#choose();
    if (chosen === undefined) {
      client.destroy();
      return;
    }
    const server = dial(chosen.port, '127.0.0.1');
    this.#links.set(client, chosen);
    server.on('error', () => client.destroy());
    client.on('close', () => {
      this.#links.delete(client);
      server.destroy();
    });
    server.on('close', () => client.destroy());
    client.pipe(server).pipe(client);
  }
}
