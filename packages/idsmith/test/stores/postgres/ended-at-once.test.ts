import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type ServerProcess, startPostgres } from '#services';
import { openStore } from '../../../src/stores/open.ts';
import { postgresStore } from '../../../src/stores/postgres/store.ts';

const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');

await describeWith(['postgres'], 'a PostgreSQL connection that the server ends as it begins', () => {
  let server: ServerProcess;
  let admin: Pool;
  let listener: Server;
  let url: string;
  /** Connections that were ended by the server before the client heard of their beginning. */
  let ended = 0;
  /** Errors that would have ended the process. */
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);

  beforeAll(async () => {
    process.on('uncaughtException', note);
    server = await startPostgres();
    admin = new Pool({ connectionString: server.url });
    admin.on('error', () => {});
    listener = createServer(hold);
    await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening));
    const { port } = listener.address() as { port: number };
    url = server.url.replace(`:${server.port}`, `:${port}`);
  });
  afterAll(async () => {
    process.off('uncaughtException', note);
    listener?.close();
    await admin?.end();
    await server?.stop();
  });

  /** Keeps back that a session is ready until the server has ended the session, as a process does that is stopped meanwhile. */
  function hold(client: Socket): void {
    const session = dial(server.port, '127.0.0.1');
    let held = Buffer.alloc(0);
    client.on('data', (chunk) => session.write(chunk));
    client.on('close', () => session.destroy());
    client.on('error', () => {});
    session.on('error', () => {});
    session.on('data', (chunk) => {
      const wasReady = held.includes(READY);
      held = Buffer.concat([held, chunk]);
      if (!wasReady && held.includes(READY))
        void admin.query('SELECT pg_terminate_backend($1)', [pidIn(held)]);
    });
    session.on('end', () => {
      ended++;
      client.end(held);
    });
  }

  /** The process id in the BackendKeyData message: K, a length of 12, the id, a secret. */
  function pidIn(bytes: Buffer): number {
    return bytes.readInt32BE(bytes.indexOf(Buffer.from('K\0\0\0\x0c', 'latin1')) + 5);
  }

  it('is a StoreError for a store that openStore has made', async () => {
    const store = await openStore(url);
    await expect(store.listLeases('orders')).rejects.toMatchObject({ code: 'STORE' });
    expect(ended).toBeGreaterThan(0);
    expect(uncaught).toEqual([]);
    await store.close();
  });

  it('is a StoreError for a pool of the user, whose connections keep no listener of the store', async () => {
    const before = ended;
    const pool = new Pool({ connectionString: url });
    pool.on('error', () => {});
    await expect(postgresStore(pool).listLeases('orders')).rejects.toMatchObject({ code: 'STORE' });
    expect(ended).toBeGreaterThan(before);
    expect(uncaught).toEqual([]);
    await pool.end();

    const well = new Pool({ connectionString: server.url, max: 1 });
    // The server may be stopped while the last connection is being closed.
    well.on('error', () => {});
    await postgresStore(well).listLeases('orders');
    const connection = await well.connect();
    expect(connection.listenerCount('error')).toBe(0);
    connection.release();
    await well.end();
  });
});
