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
    throw new InvalidOptionError(refusal(error as NodeJS.ErrnoException, host, port), { cause: error });
  }
  const { port: actual } = app.server.address() as AddressInfo;
  return `http://${addressOf(host, actual)}`;
}

function addressOf(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** A sentence with the address, the reason and the way out. */
function refusal({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  const address = addressOf(host, port);
  if (code === 'EADDRINUSE')
    return `another process listens on ${address}: take another port with --port, or a free one with --port 0`;
  if (code === 'EACCES')
    return `this user may not listen on ${address}: take a port from 1024 on with --port`;
  if (code === 'EADDRNOTAVAIL')
    return `${address} is no address of this machine: take another one with --host`;
  return `cannot listen on ${address}: ${message}`;
}
