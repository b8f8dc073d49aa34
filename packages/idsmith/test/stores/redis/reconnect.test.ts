import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { redisStore } from '../../../src/stores/redis/store.ts';
import { DRIVERS } from '../../support/drivers.ts';

await describeWith(['redis'], 'A server that ends while clients log in to it', () => {
  let server: RedisServer;
  let gate: Server;
  let dropped = 0;
  const open = new Set<Socket>();

  beforeAll(async () => {
    server = await startRedis();
    gate = createServer((client) => {
      open.add(client);
      client.on('error', () => {}).on('close', () => open.delete(client));
      if (dropped > 0) {
        // The client has connected, and sends the first commands of its own.
        client.once('data', () => {
          dropped--;
          client.resetAndDestroy();
        });
        return;
      }
      const onward = connect(server.port, '127.0.0.1').on('error', () => client.destroy());
      client.pipe(onward).pipe(client);
    });
    await new Promise<void>((listening) => gate.listen(0, '127.0.0.1', listening));
  });

  afterAll(async () => {
    for (const socket of open) socket.destroy();
    gate?.close();
    await server?.stop();
  });

  // `redis` before 5.11.0 then takes a connection that has ended for one that works, and stays away for good.
  it.each(Object.keys(DRIVERS))('is used again by a client of %s', async (name) => {
    const { client, end } = await DRIVERS[name]!((gate.address() as { port: number }).port);
    const store = redisStore(client, { timeout: 500 });
    await expect.poll(() => store.listLeases('any').catch(String)).toEqual([]);
    dropped = 2;
    for (const socket of open) socket.resetAndDestroy();
    await expect.poll(() => dropped).toBeLessThanOrEqual(0);
    await expect.poll(() => store.listLeases('any').catch(String)).toEqual([]);
    end();
  });
});
