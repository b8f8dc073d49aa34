import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A proxy as nginx is by default: it sends the address of the server behind it as `Host`, and a page of its own with status
 * 502 while that server is away.
 */
export class HttpProxy {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(target: string, port = 0): Promise<HttpProxy> {
    const { host, hostname, port: targetPort } = new URL(target);
    const server = createServer((incoming, answer) => {
      const { method, url: path, headers } = incoming;
      const outgoing = request(
        { hostname, port: targetPort, method, path, headers: { ...headers, host } },
        (response) => {
          answer.writeHead(response.statusCode ?? 500, response.headers);
          response.pipe(answer);
        },
      );
      outgoing.on('error', () =>
        answer.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502 Bad Gateway</h1>'),
      );
      incoming.pipe(outgoing);
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new HttpProxy(server);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
