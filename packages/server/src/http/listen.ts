import { lookup } from 'node:dns/promises';
import { type AddressInfo, BlockList } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { InvalidOptionError } from 'idsmith';
import type { Settings } from '../config/settings.js';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** @throws InvalidOptionError unless only this machine can reach the host */
export async function requireLoopback(host: string): Promise<void> {
  const addresses = await lookup(host, { all: true }).catch((cause: Error) => {
    throw new InvalidOptionError(`host must be an address of this machine, not ${JSON.stringify(host)}`, {
      cause,
    });
  });
  const isLoopback = addresses.every(({ address, family }) =>
    LOOPBACK.check(address, family === 6 ? 'ipv6' : 'ipv4'),
  );
  if (isLoopback) return;
  throw new InvalidOptionError(
    `host ${host} can be reached from other machines, and there is no token: ` +
      'create one with idsmith token create, or listen on 127.0.0.1',
  );
}

/**
 * Listens, and returns the URL.
 *
 * @throws InvalidOptionError when the address is not available
 */
export async function listen(app: FastifyInstance, { host, port }: Settings): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'EADDRINUSE' ? 'address already in use' : message;
    throw new InvalidOptionError(`host ${host} and port ${port}: ${reason}`, { cause: error });
  }
  const { port: actual } = app.server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${actual}`;
}
