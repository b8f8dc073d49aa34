import { type Block, StoreError } from 'idsmith';
import { expect, it } from 'vitest';
import type { ServerProcess } from '#services';
import { FaultyProxy } from '../../../../verify/src/proxy/faulty-proxy.ts';
import type { Store } from '../../../src/stores/store.ts';
import {
  expectNoGap,
  idsOf,
  repeatedly,
  type SharedDatabase,
  sortedIds,
  upstreamTable,
} from './shared-database.ts';

/** A store on a pool of that many connections to that port, with that time limit. */
export type Connect = (
  port: number,
  connections: number,
  timeout: number,
) => { store: Store; end(): unknown };

/** What happens when servers, connections and answers are lost, and when many set up the table at once. */
export function serverCases(
  serverOf: () => ServerProcess,
  open: () => Promise<SharedDatabase>,
  connect: Connect,
): void {
  /** Runs `work` with a store behind a proxy, with a sequence of its own. */
  async function behindProxy(
    timeout: number,
    work: (store: Store, name: string, proxy: FaultyProxy, direct: Store) => Promise<void>,
  ): Promise<void> {
    const proxy = await FaultyProxy.before(serverOf().port);
    const clients = [connect(proxy.port, 1, timeout), connect(serverOf().port, 1, 10_000)];
    const [store, direct] = clients.map((client) => client.store) as [Store, Store];
    const name = `faults ${crypto.randomUUID()}`;
    await direct.defineSequence({ name, blockSize: 10 });
    await connected(store, name);
    await work(store, name, proxy, direct).finally(async () => {
      await proxy.close();
      await Promise.all(clients.map((client) => client.end()));
    });
  }

  /** Waits until a store with a short time limit has a connection, which may take longer on a busy machine. */
  async function connected(store: Store, name: string): Promise<void> {
    await expect.poll(() => store.describeSequence(name).then(({ name }) => name, String)).toBe(name);
  }

  /** Waits until somebody has moved the sequence to that id. */
  async function moved(direct: Store, name: string, to: bigint): Promise<void> {
    while ((await direct.describeSequence(name)).next !== to);
  }

  it('is set up by twenty at once, on an empty database and on a table of upstream', async () => {
    for (const isEmpty of [true, false]) {
      const shared = await open();
      if (!isEmpty) await shared.sql(upstreamTable());
      const stores = Array.from({ length: 20 }, () => shared.store(1));
      const lists = await Promise.all(stores.map((store) => store.listSequences()));
      expect(lists.flat()).toEqual([]);
      await stores[0]!.defineSequence({ name: 'x' });
      expectNoGap(await Promise.all(stores.map((store) => store.allocate('x', 1))));
      await shared.close();
    }
  });

  it('goes on to take four values without names from other programs', async () => {
    for (const isUpstreams of [true, false]) {
      const shared = await open();
      if (isUpstreams) await shared.sql(upstreamTable());
      const store = shared.store();
      await store.listSequences();
      await shared.sql(`INSERT INTO id_sequences VALUES ('x', 1, 20, 0)`);
      expect(await store.allocate('x', 1)).toMatchObject({ first: 1n, count: 20 });
      await shared.close();
    }
  });

  it('never gives the ids of an answer that was lost', async () => {
    await behindProxy(10_000, async (store, name, proxy, direct) => {
      expect(idsOf(await store.allocate(name, 1)).at(-1)).toBe(10n);
      proxy.halfOpen('answers');
      const lost = store.allocate(name, 1).catch((error) => error);
      await moved(direct, name, 21n);
      proxy.cut();
      expect(await lost).toBeInstanceOf(StoreError);
      proxy.heal();
      expect((await store.allocate(name, 1)).first).toBe(21n);
    });
  });

  it.each(['everything', 'answers'] as const)(
    'gives up on a connection that loses %s, and makes another',
    async (loss) => {
      await behindProxy(1500, async (store, name, proxy, direct) => {
        await store.allocate(name, 1);
        proxy.halfOpen(loss);
        const failure = await store.allocate(name, 1).catch((error) => error);
        expect(failure).toBeInstanceOf(StoreError);
        expect(failure.message).toMatch(
          /store: allocating from sequence ".*" failed: no answer within 1500 ms$/,
        );
        await moved(direct, name, loss === 'answers' ? 21n : 11n);
        proxy.heal();
        await connected(store, name);
        // The pool has room for one connection only: it must have given up the other.
        expect((await store.allocate(name, 1)).first).toBe(loss === 'answers' ? 21n : 11n);
      });
    },
  );

  it('gives no id twice while connections are cut again and again', async () => {
    await behindProxy(2000, async (first, name, proxy) => {
      const others = Array.from({ length: 3 }, () => connect(proxy.port, 2, 2000));
      const blocks: Block[] = [];
      let failures = 0;
      let isOver = false;
      const work = [first, ...others.map(({ store }) => store)].map(async (store) => {
        while (!isOver) {
          await store.allocate(name, 1).then(
            (block) => blocks.push(block),
            (error) => {
              expect(error).toBeInstanceOf(StoreError);
              failures++;
            },
          );
        }
      });
      for (let round = 1; round <= 15; round++) {
        proxy.cut();
        proxy.heal();
        // Until they are all well at work again.
        const enough = blocks.length + 20;
        while (blocks.length < enough) await new Promise((resolve) => setTimeout(resolve, 5));
      }
      isOver = true;
      await Promise.all(work);
      await Promise.all(others.map(({ end }) => end()));
      const ids = sortedIds(blocks);
      expect(ids.filter((id, i) => id === ids[i - 1])).toEqual([]);
      expect(failures).toBeGreaterThan(0);
      // At most one block is lost with each answer.
      expect(ids.at(-1)).toBeLessThanOrEqual(BigInt(ids.length + 10 * failures));
    });
  });

  it('gives no id twice when the server is killed at work and started again', async () => {
    const server = serverOf();
    const clients = Array.from({ length: 4 }, () => connect(server.port, 2, 5000));
    const name = `killed ${crypto.randomUUID()}`;
    await clients[0]!.store.defineSequence({ name, blockSize: 10 });
    const blocks: Block[] = [];
    let failures = 0;
    let rounds = 0;
    const work = clients.map(async ({ store }) => {
      while (rounds < 2) {
        await store.allocate(name, 1).then(
          (block) => blocks.push(block),
          async (error) => {
            expect(error).toBeInstanceOf(StoreError);
            failures++;
            await new Promise((resolve) => setTimeout(resolve, 10));
          },
        );
      }
    });
    for (; rounds < 2; rounds++) {
      const enough = blocks.length + 50;
      while (blocks.length < enough) await new Promise((resolve) => setTimeout(resolve, 5));
      await server.kill();
      await server.restart();
    }
    await Promise.all(work);
    blocks.push(...(await repeatedly(5, () => clients[0]!.store.allocate(name, 1))));
    await Promise.all(clients.map(({ end }) => end()));
    const ids = sortedIds(blocks);
    expect(ids.filter((id, i) => id === ids[i - 1])).toEqual([]);
    expect(failures).toBeGreaterThan(0);
  });
}
