import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exchange } from '../support/raw.ts';
import { TestServer } from '../support/server.ts';

const HOST = 'HTTP/1.1\r\nHost: localhost\r\n\r\n';

describe('Connections that send requests and read nothing', () => {
  let server: TestServer;
  let sockets: Socket[];
  beforeEach(async () => {
    server = await TestServer.start();
    sockets = [];
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await server.stop();
  });

  /** Opens connections that send `text` again and again and read nothing, until the buffers of the machine are full. */
  async function openSilent(count: number, text: string): Promise<void> {
    for (let i = 0; i < count; i++) {
      const socket = connect(server.port, '127.0.0.1').pause();
      socket.on('error', () => {});
      sockets.push(socket);
    }
    for (let round = 0; round < 12; round++) {
      for (const socket of sockets) socket.write(text);
      await server.get('/healthz');
    }
  }

  async function answered(path: string): Promise<number> {
    const { text } = await server.get('/metrics');
    const lines = text
      .split('\n')
      .filter((line) => line.startsWith('idsmith_requests_total') && line.includes(`path="${path}"`));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  it.each([
    ['/openapi.json', `GET /openapi.json ${HOST}`],
    ['/v1/locality', `POST /v1/locality?count=2000 ${HOST}`],
  ])('do not keep others from being served: %s', async (path, request) => {
    await openSilent(80, request.repeat(33));
    await expect.poll(() => answered(path)).toBeGreaterThan(1000);
    const statuses = new Set<number>();
    for (let i = 0; i < 100; i++) {
      statuses.add((await server.post('/v1/flakes')).status);
      statuses.add((await server.get('/v1/sequences')).status);
      statuses.add((await server.get('/openapi.json')).status);
    }
    expect([...statuses]).toEqual([200]);
    // A client that reads what it asked for keeps its connection, however much that is.
    const last = `POST /v1/locality?count=10000 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
    const answers = await exchange(server.port, `POST /v1/locality?count=10000 ${HOST}`.repeat(8), last);
    expect(answers.match(/HTTP\/1\.1 200/g)).toHaveLength(9);
    expect(answers.match(/[0-9a-f]{8}-/g)).toHaveLength(90_000);
  });

  it('are cut off when they send on and on', async () => {
    const closed = new Promise<void>((resolve) => {
      const socket = connect(server.port, '127.0.0.1').pause();
      socket.on('error', () => {}).on('close', () => resolve());
      sockets.push(socket);
      socket.write(`POST /v1/flakes?count=10000 ${HOST}`.repeat(1000), () => socket.resume());
    });
    await closed;
    // Each request but those after the cut has an answer: 32 with ids, the others with a refusal.
    expect(await answered('/v1/flakes')).toBeLessThanOrEqual(33);
    expect(await server.metric('idsmith_problems_total{code="OVERLOADED"}')).toBeGreaterThan(100);
  });
});
