import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { exchange } from '../support/raw.ts';
import { TestServer } from '../support/server.ts';

const MAX = 20;

describe('A server with as many connections as it may have', () => {
  let server: TestServer;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    server = await TestServer.start({ maxConnections: MAX });
    await openSilent(MAX);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    for (const socket of sockets.splice(0)) socket.destroy();
    await server.stop();
  });

  async function openSilent(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => {});
      sockets.push(socket);
      await once(socket, 'connect');
    }
  }

  /** The answer on a connection of its own. */
  const ask = (request: string) =>
    exchange(server.port, `${request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);

  it('refuses further ones with 503, and still answers probes on them', async () => {
    expect(await ask('POST /v1/flakes')).toMatch(
      /^HTTP\/1.1 503 .*retry-after: 1\r\n.*"20 connections are already open","code":"OVERLOADED"/s,
    );
    expect(await ask('GET /healthz')).toMatch(/^HTTP\/1.1 200 .*\{"status":"ok"\}$/s);
    expect(await ask('GET /readyz')).toMatch(/^HTTP\/1.1 200 .*\{"status":"ready"\}$/s);
    expect(await ask('GET /healthz-not')).toMatch(/^HTTP\/1.1 503 /);
  });

  it('answers probes when many more connections are open and silent', async () => {
    await openSilent(5 * MAX);
    expect(await ask('GET /healthz')).toMatch(/^HTTP\/1.1 200 /);
    await expect.poll(() => sockets.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(4 * MAX);
    expect(sockets.filter(({ closed }) => closed).length).toBeLessThanOrEqual(4 * MAX + 1);
  });

  it('ends a connection after the one probe beyond the limit', async () => {
    const probe = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const answers = await exchange(server.port, probe);
    expect(answers).toMatch(/^HTTP\/1.1 200 .*connection: close/is);
  });

  it('closes those that were idle for the longest time to make room', async () => {
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 6000);
    expect(await ask('POST /v1/flakes')).toMatch(/^HTTP\/1.1 200 /);
    await expect.poll(() => sockets[0]?.closed).toBe(true);
    expect(sockets.filter(({ closed }) => closed)).toHaveLength(1);
  });
});
