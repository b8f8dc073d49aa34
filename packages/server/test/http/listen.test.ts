import { InvalidOptionError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { TestServer } from '../support/server.ts';

describe('A server without tokens', () => {
  it.each(['0.0.0.0', '::', '192.0.2.1'])('does not listen on %s, and says why', async (host) => {
    const failure = TestServer.start({ host });
    await expect(failure).rejects.toBeInstanceOf(InvalidOptionError);
    await expect(failure).rejects.toThrow(
      `host ${host} can be reached from other machines, and there is no token: create one with idsmith token create`,
    );
  });

  it('listens there with them', async () => {
    const [server, token] = await TestServer.startWithToken({ host: '0.0.0.0' });
    const here = server.url.replace('0.0.0.0', '127.0.0.1');
    expect((await fetch(`${here}/v1/flakes`, { method: 'POST' })).status).toBe(401);
    const headers = { authorization: `Bearer ${token}`, host: 'ids.example.com' };
    expect((await fetch(`${here}/v1/flakes`, { method: 'POST', headers })).status).toBe(200);
    await server.stop();
  });

  it.each(['127.0.0.1', '127.0.0.2', '::1', 'localhost'])('listens on %s', async (host) => {
    const server = await TestServer.start({ host });
    expect((await server.post('/v1/flakes')).status).toBe(200);
    await server.stop();
  });

  it.each(['127.0.0.1', '::1'])('names the address and --port when the port of %s is taken', async (host) => {
    const first = await TestServer.start({ host });
    const { port, host: address } = new URL(first.url);
    const second = TestServer.start({ host, port: Number(port) });
    await expect(second).rejects.toBeInstanceOf(InvalidOptionError);
    await expect(second).rejects.toThrow(
      `another process listens on ${address}: take another port with --port, or a free one with --port 0`,
    );
    expect((await first.post('/v1/flakes')).status).toBe(200);
    await first.stop();
  });

  it('does not listen where no host is', async () => {
    await expect(TestServer.start({ host: 'no-such-host.invalid' })).rejects.toThrow(
      'host must be an address of this machine, not "no-such-host.invalid"',
    );
  });
});
