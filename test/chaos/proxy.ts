import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What is lost on a half-open connection: all that is sent, or what the server answers to requests that reach it. */
export type Loss = 'everything' | 'answers';

/** One client's connection and its continuation to the server. */
interface Link {
  readonly client: Socket;
  readonly server: Socket;
  /** Set once it is half-open, which it then stays: nobody is told, and nothing is sent again. */
  lost?: Loss;
}

/** A TCP proxy on 127.0.0.1 that can break the connections through it in every way that networks do. */
export class FaultyProxy {
  readonly #target: number;
  readonly #listener: Server;
  readonly #links = new Set<Link>();
  #isCut = false;
  #delay = 0;
  #loss: Loss | undefined;

  private constructor(target: number) {
    this.#target = target;
    this.#listener = createServer((client) => this.#accept(client));
  }

  /** A proxy in front of a port of this machine. */
  static async to(target: number): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    await new Promise<void>((listening) => proxy.#listener.listen(0, '127.0.0.1', listening));
    return proxy;
  }

  /** Where clients connect. */
  get port(): number {
    return (this.#listener.address() as { port: number }).port;
  }

  /** Resets every connection, and each new one, until it is healed. */
  cut(): void {
    this.#isCut = true;
    for (const link of this.#links) reset(link);
  }

  /** Holds back whatever is sent by this many ms, until it is healed. */
  delay(ms: number): void {
    this.#delay = ms;
  }

  /** Forwards no more on any connection, and none on new ones until it is healed. All of them stay open. */
  halfOpen(loss: Loss): void {
    this.#loss = loss;
    for (const link of this.#links) link.lost = loss;
  }

  /** New connections work again. Those that were half-open stay so, as after a router has forgotten them. */
  heal(): void {
    this.#isCut = false;
    this.#delay = 0;
    this.#loss = undefined;
  }

  /** Ends it, with all connections. */
  async close(): Promise<void> {
    this.cut();
    await new Promise((closed) => this.#listener.close(closed));
  }

  #accept(client: Socket): void {
    const server = dial(this.#target, '127.0.0.1');
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

  /** In order, even when the delay changes while something is held back. */
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
    from.on('close', (hadError) => later(() => (hadError ? to.resetAndDestroy() : to.end())));
    // What went wrong is passed on by 'close'.
    from.on('error', () => {});
  }
}

function reset({ client, server }: Link): void {
  client.resetAndDestroy();
  server.destroy();
}
