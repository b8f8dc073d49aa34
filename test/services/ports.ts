import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { createServer } from 'node:net';

// Below the range from which the kernel takes the local ports of outgoing connections: while a server is
// down for a restart, no connection of any program can be given its port.
const FIRST_PORT = 15_000;
const LAST_PORT = 32_000;

const reservations = new Map<number, Socket>();

/**
 * Reserves a TCP port by holding the UDP port of the same number. That keeps off the other test processes,
 * leaves the TCP port to the server, and ends by itself when this process ends.
 */
function reserve(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const twin = createSocket('udp4').unref();
    twin.once('error', () => resolve(false));
    twin.bind({ port, address: '127.0.0.1', exclusive: true }, () => {
      reservations.set(port, twin);
      resolve(true);
    });
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const trial = createServer();
    trial.once('error', () => resolve(false));
    trial.listen({ port, host: '127.0.0.1', exclusive: true }, () => trial.close(() => resolve(true)));
  });
}

async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (!(await reserve(port))) continue;
    if (await isFree(port)) return port;
    releasePorts([port]);
  }
  throw new Error(`no free port found between ${FIRST_PORT} and ${LAST_PORT}`);
}

/** Gives ports back that `withFreePorts` handed out. */
export function releasePorts(ports: readonly number[]): void {
  for (const port of ports) {
    reservations.get(port)?.close();
    reservations.delete(port);
  }
}

/** At least one port. */
export type Ports = readonly [number, ...number[]];

/**
 * Calls `start` with `count` free ports of 127.0.0.1, reserved until they are released. Should a program
 * that knows nothing of the reservation take one before the server does, `start` gets other ports.
 */
export async function withFreePorts<T>(count: number, start: (ports: Ports) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const ports: [number, ...number[]] = [await freePort()];
    try {
      while (ports.length < count) ports.push(await freePort());
      return await start(ports);
    } catch (error) {
      releasePorts(ports);
      if (attempt === 5 || !/address already in use/i.test(String(error))) throw error;
    }
  }
}
