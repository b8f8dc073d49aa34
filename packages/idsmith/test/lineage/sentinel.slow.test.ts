import { acquireLease, FlakeGenerator, type Lease, type Store } from 'idsmith';
import { connect } from 'idsmith/connect';
import { expect, it, onTestFinished } from 'vitest';
import { describeWith, initialised, type RedisSentinels, startRedisSentinels } from '#services';
import { itIfLong } from '../../../../test/long.ts';
import { markRestored } from '../../src/stores/init.ts';
import { openStore } from '../../src/stores/open.ts';
import { allRepeats, mintWhile, NO_REPEATS } from './minters.ts';

const PATIENT = { timeout: 90_000, interval: 200 };
/** Two masters at once are harmless for twice `maxSkew`: for more than the second after which the Sentinels are asked again. */
const LEASE = { namespace: 'nodes', size: 8, ttl: 3000, maxSkew: 1000, waitFor: 60_000 };

/** The sequence of the orders, and the one in which the series of the invoices counts. */
const COUNTERS = ['orders', 'series:invoices::'];

/** A process that defines what it uses, as the first program of the README does. */
class Program {
  readonly store: Store;
  readonly numbers: bigint[] = [];
  readonly invoices: string[] = [];
  readonly flakes: bigint[] = [];
  #generator: FlakeGenerator | undefined;

  constructor(store: Store) {
    this.store = store;
  }

  /** Defines the sequence and the series, and takes numbers of both. Returns the code of the error that ends this. */
  async take(count: number): Promise<unknown> {
    const ids = await connect(this.store);
    try {
      const orders = await ids.sequence('orders', { define: {} });
      for (let i = 0; i < count; i++) this.numbers.push(await orders.next());
      const invoices = await ids.series('invoices', { format: 'R-{n}' });
      for (let i = 0; i < count; i++) this.invoices.push(await invoices.next());
      return undefined;
    } catch (error) {
      return (error as { code?: unknown }).code;
    }
  }

  async acquire(): Promise<this> {
    let lease: Lease | undefined;
    // While the Sentinels choose, and on a busy machine, a call may fail.
    await expect
      .poll(async () => (lease = await acquireLease(this.store, LEASE).catch(() => undefined)), PATIENT)
      .toBeDefined();
    lease!.on('renewal-failed', () => {});
    this.#generator = new FlakeGenerator({ node: lease! });
    return this;
  }

  get from(): number {
    return this.#generator?.lease?.from ?? 0;
  }

  get until(): number {
    return this.#generator?.lease?.until ?? 0;
  }

  /** Mints as long as the lease allows. */
  mint(count: number): void {
    try {
      for (let i = 0; i < count; i++) this.flakes.push(this.#generator?.next() as bigint);
    } catch {
      // Nothing was minted.
    }
  }
}

await describeWith(['redis'], 'A master of Sentinels that comes back empty', () => {
  async function start(): Promise<RedisSentinels> {
    const group = await startRedisSentinels();
    onTestFinished(() => group.stop());
    return initialised(group);
  }

  async function program(url: string): Promise<Program> {
    const store = await openStore(`${url}?maxTtl=3000`);
    onTestFinished(() => store.close());
    // The first connection takes longer than a lease may wait.
    await store.listLeases('nodes').catch(() => undefined);
    return new Program(store);
  }

  /** Waits until the store of a program answers: while the Sentinels choose, calls fail. */
  const answers = ({ store }: Program) =>
    expect.poll(() => store.listLeases('nodes').then(() => true, String), PATIENT).toBe(true);

  it('begins nothing again if it is back before the Sentinels have noticed', async () => {
    const group = await start();
    await group.setPatience(600_000);
    const survivor = await (await program(group.url)).acquire();
    const silent = await program(group.url);
    expect(await survivor.take(150)).toBeUndefined();
    expect(await silent.take(50)).toBeUndefined();
    survivor.mint(1000);
    const { until } = survivor;
    const master = await group.master();
    await master.restart({ empty: true });
    // The replicas follow, and have nothing either.
    for (const server of group.redis)
      if (server !== master)
        await expect.poll(() => server.command('EXISTS', 'idsmith:sequence:{orders}'), PATIENT).toBe('0');
    expect((await group.master()).port).toBe(master.port);
    const newcomer = await program(group.url);
    for (const each of [survivor, silent, newcomer]) {
      await answers(each);
      // Again and again: an attempt to define must not end the refusal.
      for (let i = 0; i < 3; i++) expect(await each.take(1)).toMatch(/^STORE/);
    }
    await newcomer.acquire();
    expect(newcomer.from).toBeGreaterThanOrEqual(until);
    survivor.mint(1000);
    newcomer.mint(1000);
    expect(newcomer.flakes).toHaveLength(1000);
    // A person says what has happened, and where to go on.
    for (const name of COUNTERS) await newcomer.store.defineSequence({ name, start: 1001, lost: true });
    await markRestored(newcomer.store);
    for (const name of COUNTERS) await newcomer.store.alterSequence(name, { next: 1001n });
    for (const each of [survivor, silent, newcomer])
      await expect.poll(() => each.take(10), PATIENT).toBeUndefined();
    const all = [survivor, silent, newcomer];
    expect(allRepeats(all)).toEqual(NO_REPEATS);
  });

  itIfLong(
    'begins nothing again when it joins, and is master again, after another one was chosen',
    async () => {
      const group = await start();
      const survivor = await (await program(group.url)).acquire();
      const silent = await program(group.url);
      expect(await survivor.take(150)).toBeUndefined();
      expect(await silent.take(50)).toBeUndefined();
      survivor.mint(1000);
      const old = await group.master();
      // Whoever has the address of the old master asks it, whatever the Sentinels say.
      const direct = await program(old.url);
      await old.kill();
      await expect.poll(async () => (await group.master()).port, PATIENT).not.toBe(old.port);
      await old.start();
      const refused = async () => {
        for (const each of [survivor, silent, direct])
          expect((await each.take(1)) ?? 'none').toMatch(/^STORE/);
      };
      await refused();
      const isReplica = () => old.command('INFO', 'replication');
      await expect.poll(isReplica, PATIENT).toMatch(/role:slave[\s\S]*master_link_status:up/);
      for (const each of [survivor, silent]) await answers(each);
      await refused();
      const second = await group.master();
      for (const server of group.redis)
        if (server !== old) await server.command('CONFIG', 'SET', 'replica-priority', 0);
      const chosen = async () => {
        const { port } = await group.master();
        if (port !== old.port) await group.failover();
        return port;
      };
      await expect.poll(chosen, PATIENT).toBe(old.port);
      const newcomer = await program(group.url);
      await mintWhile([survivor], newcomer.acquire());
      // Some seconds long there are two masters.
      const demoted = expect.poll(() => second.command('INFO', 'replication'), PATIENT).toMatch('role:slave');
      await mintWhile([survivor, newcomer], demoted);
      for (const each of [survivor, silent, direct]) await answers(each);
      await refused();
      survivor.mint(1000);
      newcomer.mint(1000);
      for (const name of COUNTERS) await newcomer.store.alterSequence(name, { next: 1001n });
      const all = [survivor, silent, direct, newcomer];
      for (const each of all) await expect.poll(() => each.take(10), PATIENT).toBeUndefined();
      expect(allRepeats(all)).toEqual(NO_REPEATS);
    },
  );
});
