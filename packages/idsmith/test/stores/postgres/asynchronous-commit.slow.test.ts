import pg from 'pg';
import { expect, it } from 'vitest';
import { describeWith, startPostgres } from '#services';
import { openStore } from '../../../src/stores/open.ts';
import { postgresStore } from '../../../src/stores/postgres/store.ts';

const NAME = 'A PostgreSQL that acknowledges before it has written (synchronous_commit = off)';

await describeWith(['postgres'], NAME, () => {
  it('loses no number and no lease when it is killed', async () => {
    const args = ['-c', 'synchronous_commit=off', '-c', 'wal_writer_delay=10s'];
    const server = await startPostgres({ args });
    const before = await openStore(server.url);
    await before.defineSequence({ name: 'orders', blockSize: 1 });
    for (let i = 0; i < 20; i++) await before.allocate('orders', 1);
    const held = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: '' };
    await before.swapLease('nodes', undefined, held);
    await server.kill();
    await server.start();
    const after = await openStore(server.url);
    expect(await after.describeSequence('orders')).toMatchObject({ next: 21n });
    expect(await after.listLeases('nodes')).toEqual([held]);
    for (const store of [before, after]) await store.close();
    await server.stop();
  });

  it('keeps its setting for the programs of the same pool', async () => {
    const server = await startPostgres({ args: ['-c', 'synchronous_commit=off'] });
    const pool = new pg.Pool({ connectionString: server.url, max: 1 });
    // The server may end before the pool's connections have.
    pool.on('connect', (client) => client.on('error', () => {}));
    const store = postgresStore(pool);
    await store.defineSequence({ name: 'orders' });
    await store.allocate('orders', 1);
    const { rows } = await pool.query('SHOW synchronous_commit');
    expect(rows).toEqual([{ synchronous_commit: 'off' }]);
    await store.close();
    await pool.end();
    await server.stop();
  });
});
