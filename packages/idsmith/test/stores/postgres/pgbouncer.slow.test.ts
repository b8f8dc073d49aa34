import { FlakeGenerator, gapless, memoryStore, postgresSequence, Sequences, StoreError } from 'idsmith';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { Client, Pool, type PoolConfig } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type ServerProcess, startPgbouncer, startPostgres } from '#services';
import { openStore } from '../../../src/stores/open.ts';
import { postgresStore } from '../../../src/stores/postgres/store.ts';
import type { Store } from '../../../src/stores/store.ts';
import { expectNoGap, repeatedly, sortedIds } from '../support/shared-database.ts';

// Every statement or transaction of a client may run on another connection of the server, and every connection of the server serves
// many clients. Anything that a client leaves in a session is then somebody else's.
await describeWith(['postgres', 'pgbouncer'], 'PostgreSQL behind PgBouncer in transaction mode', () => {
  let postgres: ServerProcess;
  let bouncer: ServerProcess;
  let direct: Pool;
  const opened: { end(): Promise<unknown> }[] = [];

  beforeAll(async () => {
    postgres = await startPostgres();
    bouncer = await startPgbouncer(postgres, { poolSize: 3 });
    direct = new Pool({ connectionString: postgres.url });
    direct.on('error', () => {});
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.end()));
  });
  afterAll(async () => {
    await direct?.end();
    await bouncer?.stop();
    await postgres?.stop();
  });

  function pool(config: PoolConfig = {}): Pool {
    const made = new Pool({ connectionString: bouncer.url, ...config });
    made.on('error', () => {});
    opened.push(made);
    return made;
  }
  async function connection(): Promise<Client> {
    const client = new Client({ connectionString: bouncer.url });
    client.on('error', () => {});
    await client.connect();
    opened.push(client);
    return client;
  }
  async function defined(store: Store, options = {}): Promise<string> {
    const name = `bounced ${crypto.randomUUID()}`;
    await store.defineSequence({ name, ...options });
    return name;
  }

  describe('a store of a URL', () => {
    let store: Store;
    beforeAll(async () => {
      store = await openStore(bouncer.url);
    });
    afterAll(() => store?.close());
    for (const { name, run } of leaseStoreCases(() => store)) it(name, run);
    for (const { name, run } of sequenceStoreCases(() => store)) it(name, run);
  });

  it('gives no id twice and leaves no gap to thirty clients on three connections', async () => {
    const stores = Array.from({ length: 30 }, () => postgresStore(pool({ max: 1 })));
    const name = await defined(stores[0]!, { blockSize: 10 });
    const blocks = await Promise.all(stores.map((store) => repeatedly(10, () => store.allocate(name, 1))));
    expectNoGap(blocks.flat());
  });

  it('gives node ids to twenty generators at once, each its own', async () => {
    const stores = Array.from({ length: 20 }, () => postgresStore(pool({ max: 1 })));
    const namespace = `bounced ${crypto.randomUUID()}`;
    const generators = await Promise.all(stores.map((store) => FlakeGenerator.lease(store, { namespace })));
    const ids = generators.flatMap((generator) => generator.batch(1000));
    expect(new Set(ids).size).toBe(20_000);
    expect(new Set(generators.map(({ lease }) => lease?.id)).size).toBe(20);
    await Promise.all(generators.map((generator) => generator.close()));
  });

  it('leaves no setting in a session that others use', async () => {
    const own = pool();
    const [patient, store] = [postgresStore(own), postgresStore(own, { timeout: 3210 })];
    const name = await defined(patient);
    const holder = new Client({ connectionString: postgres.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT * FROM id_sequences WHERE name = $1 FOR UPDATE', [name]);
    await store.describeSequence(name);
    await expect(store.allocate(name, 1)).rejects.toThrow(/lock timeout/);
    await holder.query('COMMIT');
    await holder.end();
    await repeatedly(10, () => patient.allocate(name, 1));
    // Three transactions at once are on three connections: all that there are.
    const clients = await Promise.all([connection(), connection(), connection()]);
    for (const client of clients) await client.query('BEGIN');
    for (const client of clients)
      for (const setting of ['lock_timeout', 'statement_timeout', 'transaction_isolation']) {
        const { rows } = await client.query(`SHOW ${setting}`);
        expect(Object.values(rows[0])).toEqual([setting.endsWith('timeout') ? '0' : 'read committed']);
      }
    for (const client of clients) await client.query('ROLLBACK');
  });

  it('holds no lock and no statement after calls that were given up', async () => {
    const six = pool({ max: 6 });
    const [patient, store] = [postgresStore(six), postgresStore(six, { timeout: 500 })];
    const name = await defined(patient);
    const holder = new Client({ connectionString: postgres.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT * FROM id_sequences WHERE name = $1 FOR UPDATE', [name]);
    const calls = await Promise.allSettled(Array.from({ length: 12 }, () => store.allocate(name, 1)));
    for (const call of calls)
      expect(call).toMatchObject({ status: 'rejected', reason: expect.any(StoreError) });
    const waiting = async () =>
      (await direct.query(`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)).rows;
    await expect.poll(waiting).toEqual([]);
    await holder.query('COMMIT');
    await holder.end();
    expect((await patient.allocate(name, 1)).first).toBe(1n);
    expect((await direct.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory'`)).rows).toEqual([]);
  });

  it('refuses a connection that is inside a transaction', async () => {
    const client = await connection();
    const store = postgresStore(client);
    const name = await defined(store);
    await client.query('BEGIN');
    await expect(store.allocate(name, 1)).rejects.toThrow('inside an open transaction');
    await client.query('ROLLBACK');
    expect((await store.allocate(name, 1)).first).toBe(1n);
  });

  it('takes gapless numbers inside transactions of many clients', async () => {
    const store = postgresStore(pool());
    const name = await defined(store);
    const clients = await Promise.all(Array.from({ length: 8 }, () => connection()));
    const kept = await Promise.all(
      clients.map(async (client, i) => {
        const numbers: bigint[] = [];
        for (let round = 0; round < 6; round++) {
          await client.query('BEGIN');
          const number = await gapless(name, client);
          const isKept = (round + i) % 3 !== 0;
          await client.query(isKept ? 'COMMIT' : 'ROLLBACK');
          if (isKept) numbers.push(number);
        }
        return numbers;
      }),
    );
    const numbers = kept.flat().sort((a, b) => Number(a - b));
    expect(numbers).toEqual(Array.from({ length: 32 }, (_, i) => BigInt(i + 1)));
  });

  it('draws blocks from a sequence of PostgreSQL', async () => {
    await direct.query('CREATE SEQUENCE bounced_seq INCREMENT BY 10');
    const clients = Array.from({ length: 5 }, () => pool({ max: 1 }));
    const batches = await Promise.all(
      clients.map(async (client) => {
        const source = postgresSequence(client, 'bounced');
        const sequence = await new Sequences(memoryStore()).get('bounced', { source });
        return sequence.batch(40);
      }),
    );
    expect(new Set(batches.flat()).size).toBe(200);
  });

  it('tells of a setting that PgBouncer does not take', async () => {
    const store = await openStore(`${bouncer.url}?lock_timeout=1000`);
    await expect(store.listLeases('x')).rejects.toThrow(
      /listing leases .* failed: .*startup parameter: lock_timeout/,
    );
    await store.close();
  });

  it('works again after PostgreSQL was killed, and after PgBouncer was', async () => {
    const store = postgresStore(pool({ connectionTimeoutMillis: 5000 }), { timeout: 5000 });
    const name = await defined(store, { blockSize: 10 });
    const blocks = [await store.allocate(name, 1)];
    for (const server of [postgres, bouncer]) {
      await server.kill();
      await expect(store.allocate(name, 1)).rejects.toThrow(StoreError);
      await server.restart();
      const wanted = blocks.length + 5;
      while (blocks.length < wanted)
        await store.allocate(name, 1).then(
          (block) => blocks.push(block),
          (error) => expect(error).toBeInstanceOf(StoreError),
        );
    }
    const ids = sortedIds(blocks);
    expect(ids.filter((id, i) => id === ids[i - 1])).toEqual([]);
  });
});
