import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'idsmith/connect';
import { openStore } from 'idsmith/stores';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { createConnection, createPool, type Pool } from 'mysql2/promise';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type Galera, startGalera } from '#services';
import { depth } from '../../../../../test/depth.ts';
import { itIfLong } from '../../../../../test/long.ts';
import type { MysqlClient } from '../../../src/stores/mysql/session.ts';
import { mysqlStore } from '../../../src/stores/mysql/store.ts';
import type { Store } from '../../../src/stores/store.ts';

/** A pool of which every connection leads to another node. */
function inTurns(pools: readonly Pool[]): MysqlClient {
  let calls = 0;
  const next = () => pools[calls++ % pools.length]!;
  return {
    query: (sql, values) => next().query(sql, values) as never,
    getConnection: () => next().getConnection() as never,
  };
}

await describeWith(['mariadb', 'galera'], 'The MySQL store on three nodes of Galera', () => {
  let galera: Galera;
  let stores: Store[];
  let pools: Pool[];
  let anywhere: Store;
  const warnings: unknown[] = [];
  const listen = ({ code }: { code?: string }) => void warnings.push(code);
  beforeAll(async () => {
    process.on('warning', listen);
    galera = await startGalera({ separable: true });
    stores = await Promise.all(galera.nodes.map(({ url }) => openStore(url)));
    pools = galera.nodes.map(({ url }) => createPool(url));
    anywhere = mysqlStore(inTurns(pools));
  });
  afterAll(async () => {
    process.off('warning', listen);
    await Promise.all((stores ?? []).map((store) => store.close()));
    await Promise.all((pools ?? []).map((pool) => pool.end()));
    await galera?.stop();
  });

  for (const { name, run } of leaseStoreCases(() => anywhere)) it(name, run);
  for (const { name, run } of sequenceStoreCases(() => anywhere)) it(name, run);

  it('reads on every node what another node has just acknowledged', async () => {
    for (let i = 0; i < 100; i++) {
      await stores[i % 3]!.defineSequence({ name: `written ${i}` });
      expect(await stores[(i + 1) % 3]!.describeSequence(`written ${i}`)).toMatchObject({ next: 1n });
    }
  });

  it('does not warn of nodes that acknowledge before they write: the others have what one of them loses', async () => {
    const [rows] = await pools[0]!.query('SELECT @@innodb_flush_log_at_trx_commit AS flush');
    expect(rows).toEqual([{ flush: 2 }]);
    await stores[0]!.listLeases('warned');
    await pause(10);
    expect(warnings).not.toContain('STORE_DELAYED_FLUSH');
  });

  it('leaves the sessions of the pool as they were', async () => {
    const connection = await createConnection(galera.nodes[0]!.url);
    const [[row]] = (await connection.query('SELECT @@wsrep_sync_wait AS waits')) as unknown as [
      [{ waits: number }],
    ];
    expect(row.waits).toBe(0);
    await connection.end();
  });

  it('gets no number from a node without a majority, and hears why; the majority goes on, and then all', async () => {
    const numbers: bigint[] = [];
    const take = async (store: Store) => numbers.push((await store.allocate('cut off', 1)).first);
    await stores[0]!.defineSequence({ name: 'cut off' });
    for (const store of stores) await take(store);
    for (const number of depth > 0 ? [2, 0] : [2]) {
      const node = galera.nodes[number]!;
      const others = stores.filter((_, at) => at !== number);
      await galera.cutOff(node);
      // Whoever asks before the nodes have noticed waits, and is told no later than all others.
      const early = stores[number]!.allocate('cut off', 1).catch((error) => error);
      for (const store of others)
        await expect.poll(() => take(store).catch(String), { timeout: 60_000 }).toBe(numbers.length + 1);
      const late = await openStore(node.url);
      const refused = [
        early,
        ...[stores[number]!, late].flatMap((store) => [
          store.allocate('cut off', 1),
          store.describeSequence('cut off'),
          store.listLeases('cut off'),
        ]),
      ].map((call) => call.catch((error) => error));
      for (const error of await Promise.all(refused)) {
        expect(error).toMatchObject({ code: 'STORE', reason: 'UNAVAILABLE' });
        expect(String(error)).toMatch(/cut off from the majority.*wsrep_cluster_status = non-Primary/);
      }
      await late.close();
      await galera.rejoin(node);
      for (const store of stores) await take(store);
    }
    expect(new Set(numbers).size).toBe(numbers.length);
  }, 300_000);

  itIfLong(
    'repeats no number and no flake while nodes are cut off, killed, frozen and come back',
    async () => {
      const seen = galera.nodes.map(() => ({ numbers: [] as bigint[], flakes: [] as bigint[] }));
      let isOver = false;
      // All are at work before the first node is killed. Each number is asked for: what is at hand would hide that a node does not answer.
      const opened = await Promise.all(
        galera.nodes.map(async ({ url }) => {
          const ids = await connect(url);
          const numbers = await ids.sequence('numbers', { define: { blockSize: 2 }, prefetch: 0 });
          return { ids, numbers, flakes: await ids.flakes('flakes', { ttl: 10_000 }) };
        }),
      );
      const clients = opened.map(async ({ ids, numbers, flakes }, node) => {
        while (!isOver) {
          await numbers.next().then(
            (id) => seen[node]!.numbers.push(id),
            () => pause(20),
          );
          try {
            seen[node]!.flakes.push(...flakes.batch(10));
          } catch {
            // Its node was away for longer than the lease.
          }
        }
        await ids.close().catch(() => undefined);
      });
      const grown = async (node: number, by: number) => {
        const { numbers } = seen[node]!;
        const before = numbers.length;
        await expect.poll(() => numbers.length, { timeout: 120_000 }).toBeGreaterThan(before + by);
      };
      await Promise.all([0, 1, 2].map((node) => grown(node, 50)));
      for (const node of [2, 0]) {
        await galera.cutOff(galera.nodes[node]!);
        await grown(1, 50);
        await galera.rejoin(galera.nodes[node]!);
        await grown(node, 20);
        await galera.nodes[node]!.kill();
        await grown(1, 50);
        await galera.nodes[node]!.restart();
        await grown(node, 20);
        // A frozen node is put out of the group. When it wakes, it may not yet know that, and must not answer from its old state.
        galera.nodes[node]!.pause();
        await grown(1, 50);
        galera.nodes[node]!.resume();
        await grown(node, 20);
      }
      isOver = true;
      await Promise.all(clients);
      const [numbers, flakes] = [seen.flatMap((of) => of.numbers), seen.flatMap((of) => of.flakes)];
      expect(new Set(numbers).size).toBe(numbers.length);
      expect(new Set(flakes).size).toBe(flakes.length);
      console.log(
        `Galera, cut off by ${galera.partition}: ${numbers.length} numbers and ${flakes.length} flakes, none repeated`,
      );
    },
    600_000,
  );
});
