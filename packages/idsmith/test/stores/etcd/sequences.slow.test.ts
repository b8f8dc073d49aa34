import { type Block, SequenceExhaustedError, StoreError } from 'idsmith';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type Etcd, startEtcd } from '#services';
import { depth } from '../../../../../test/depth.ts';
import { FaultyProxy } from '../../../../verify/src/proxy/faulty-proxy.ts';
import { partOf } from '../../../src/sequence/block.ts';
import { etcdStore } from '../../../src/stores/etcd/store.ts';
import { inLockstep } from '../support/lockstep.ts';
import { drain, notBeside, scramble, startLoad } from '../support/runs.ts';

await describeWith(['etcd'], 'Sequences in etcd', () => {
  let etcd: Etcd;

  beforeAll(async () => {
    etcd = await startEtcd();
  });

  afterAll(() => etcd?.stop());

  /** Clients that know nothing of each other, and how many requests they have made in all. */
  function openMany(count: number) {
    const requests = { count: 0 };
    const counting: typeof fetch = (...args) => {
      // A process that was waiting for half a second asks for the status first. On a busy machine many do.
      if (!String(args[0]).endsWith('/status')) requests.count++;
      return fetch(...args);
    };
    const open = () => etcdStore({ endpoints: etcd.endpoints, fetch: counting });
    return { stores: Array.from({ length: count }, open), requests };
  }

  const open = () => etcdStore({ endpoints: etcd.endpoints });

  it('are given to 64 clients without gap or repetition, with 1.1 requests a block at most', async () => {
    const { stores, requests } = openMany(64);
    await stores[0]!.defineSequence({ name: 'hot', blockSize: 7 });
    // Each client looks once at the marker of the schema, the lineage, the row and its past.
    const first = await drain(stores, 'hot', 1);
    const before = requests.count;
    const rounds = depth > 0 ? 15 : 5;
    const later = await drain(stores, 'hot', rounds);
    expect((requests.count - before) / later.length).toBeLessThan(1.1);
    const blocks = [...first, ...later];
    expect(notBeside(blocks, 'overlap')).toEqual([]);
    expect(notBeside(blocks, 'gap')).toEqual([]);
    expect((await open().describeSequence('hot')).next).toBe(BigInt(64 * (rounds + 1) * 7 + 1));
  });

  it('are altered in one request while 64 clients allocate, and never come twice', async () => {
    const { stores } = openMany(64);
    const { stores: operators, requests } = openMany(1);
    const [operator] = operators;
    await operator!.defineSequence({ name: 'altered', blockSize: 1 });
    await operator!.alterSequence('altered', { blockSize: 1 });
    const load = startLoad(stores, 'altered');
    const before = { blocks: 0, requests: 0 };
    for (const changes of [{ blockSize: 5 }, { step: 3 }, { next: 10n ** 15n }, { blockSize: 2, step: 1 }]) {
      before.blocks = load.blocks.length;
      await expect.poll(() => load.blocks.length, { interval: 5 }).toBeGreaterThan(before.blocks + 64);
      before.requests = requests.count;
      const info = await operator!.alterSequence('altered', changes);
      // One to read, and one to alter. Two more read and write a ceiling, in the background.
      expect(requests.count - before.requests).toBeLessThanOrEqual(4);
      if (changes.next !== undefined) expect(info.next).toBeGreaterThanOrEqual(changes.next);
    }
    const blocks = await load.stop();
    expect(load.errors).toEqual([]);
    expect(notBeside(blocks, 'overlap')).toEqual([]);
    // The only gap is where `next` was set.
    expect(notBeside(blocks, 'gap')).toHaveLength(1);
  });

  it('are not taken back when a single block was allocated between looking and taking', async () => {
    const other = open();
    let meanwhile = async () => {};
    const interrupted: typeof fetch = async (url, init) => {
      if (String(url).endsWith('/txn')) await meanwhile();
      return fetch(url, init);
    };
    const store = etcdStore({ endpoints: etcd.endpoints, fetch: interrupted });
    await store.defineSequence({ name: 'tail', blockSize: 10 });
    const block = await store.allocate('tail', 1);
    meanwhile = async () => void (await other.allocate('tail', 1));
    expect(await store.giveBack!('tail', partOf(block, 5, 5))).toBe(false);
    expect((await other.describeSequence('tail')).next).toBe(21n);
  });

  it('give what is left to one who asks for more and did not know that the end is near', async () => {
    const [one, two] = openMany(2).stores;
    await one!.defineSequence({ name: 'end', blockSize: 3, max: 32 });
    expect(await one!.allocate('end', 1)).toMatchObject({ first: 1n, count: 3 });
    expect(await two!.allocate('end', 7)).toMatchObject({ first: 4n, count: 21 });
    expect(await one!.allocate('end', 4)).toMatchObject({ first: 25n, count: 6 });
    await expect(two!.allocate('end', 1)).rejects.toBeInstanceOf(SequenceExhaustedError);
    expect(await one!.alterSequence('end', { max: 33 })).toMatchObject({ next: 31n, exhausted: false });
    expect(await two!.allocate('end', 1)).toMatchObject({ first: 31n, count: 3 });
  });

  it('start over for many at once when they are a cycle, and each id comes once a round', async () => {
    const { stores } = openMany(8);
    await stores[0]!.defineSequence({ name: 'round', blockSize: 2, max: 40, cycle: true });
    const blocks = await drain(stores, 'round', 10);
    const times = new Map<bigint, number>();
    for (const { first } of blocks) times.set(first, (times.get(first) ?? 0) + 1);
    expect(Object.fromEntries(times)).toEqual(
      Object.fromEntries(Array.from({ length: 20 }, (_, i) => [1 + 2 * i, 4])),
    );
  });

  it('never come twice while clients allocate, give back and alter at once', async () => {
    const { stores } = openMany(8);
    await stores[0]!.defineSequence({ name: 'scrambled' });
    const blocks = await scramble(stores, 'scrambled', 12);
    expect(notBeside(blocks, 'overlap')).toEqual([]);
    expect(notBeside(blocks, 'gap')).toEqual([]);
  });

  it('are as they are in memory, whatever is done to them', async () => {
    await inLockstep([open(), open(), open()], 8);
  });

  it('jump as far as 64 bits reach', async () => {
    const store = open();
    const [min, step] = [-(2n ** 63n), 2 ** 53 - 1];
    await store.defineSequence({ name: 'wide', start: min, step, blockSize: 1025 });
    expect(await store.allocate('wide', 1)).toMatchObject({ first: min, step, count: 1025 });
    expect((await store.describeSequence('wide')).next).toBe(min + 1025n * BigInt(step));
  });

  it('keep few counter keys however often they are altered, and none when they are removed', async () => {
    const store = etcdStore({ endpoints: etcd.endpoints, prefix: 'tidy/' });
    const keys = async () => {
      const body = JSON.stringify({ key: btoa('tidy/sequence/'), range_end: btoa('tidy/sequence0') });
      const response = await fetch(`${etcd.endpoints[0]}/v3/kv/range`, { method: 'POST', body });
      return ((await response.json()) as { kvs?: unknown[] }).kvs ?? [];
    };
    await store.defineSequence({ name: 'x' });
    for (let i = 0; i < 5; i++) {
      await store.allocate('x', 7);
      await store.alterSequence('x', { blockSize: 10 + i });
    }
    await store.allocate('x', 2 ** 20 - 1);
    // The start of the counter, three keys of the earlier counter, and twenty keys since.
    expect(await keys()).toHaveLength(24);
    await store.removeSequence('x');
    expect(await keys()).toEqual([]);
  });

  it.each(['answers', 'everything'] as const)(
    'are lost, and not given twice, with %s on the way',
    async (loss) => {
      const name = `lost ${loss}`;
      const proxy = await FaultyProxy.before(etcd.nodes[0]!.port);
      const endpoint = `http://127.0.0.1:${proxy.port}`;
      const store = etcdStore({ endpoints: [endpoint, ...etcd.endpoints], timeout: 2000 });
      await store.defineSequence({ name, blockSize: 10 });
      const blocks: Block[] = [await store.allocate(name, 1)];
      proxy.halfOpen(loss);
      const lost = expect(store.allocate(name, 1)).rejects.toBeInstanceOf(StoreError);
      const next = loss === 'answers' ? 21n : 11n;
      await expect.poll(async () => (await open().describeSequence(name)).next).toBe(next);
      await lost;
      blocks.push(await store.allocate(name, 1), await open().allocate(name, 1));
      expect(blocks.map(({ first }) => first)).toEqual(loss === 'answers' ? [1n, 21n, 31n] : [1n, 11n, 21n]);
      await proxy.close();
    },
  );

  it('are lost, and not given twice, when the connection is cut before the answer', async () => {
    const proxy = await FaultyProxy.before(etcd.nodes[0]!.port);
    const endpoints = [`http://127.0.0.1:${proxy.port}`];
    const store = etcdStore({ endpoints });
    await store.defineSequence({ name: 'cut', blockSize: 10 });
    await store.allocate('cut', 1);
    proxy.halfOpen('answers');
    const lost = expect(store.allocate('cut', 1)).rejects.toBeInstanceOf(StoreError);
    await expect.poll(async () => (await open().describeSequence('cut')).next).toBe(21n);
    proxy.cut();
    await lost;
    proxy.heal();
    expect(await store.allocate('cut', 1)).toMatchObject({ first: 21n });
    await proxy.close();
  });

  it('go on after etcd was killed and restarted under load', async () => {
    const { stores } = openMany(8);
    await stores[0]!.defineSequence({ name: 'killed' });
    const load = startLoad(stores, 'killed');
    await expect.poll(() => load.blocks.length).toBeGreaterThan(100);
    await etcd.nodes[0]!.kill();
    await expect.poll(() => load.errors.length).toBeGreaterThan(0);
    await etcd.nodes[0]!.restart();
    const before = load.blocks.length;
    await expect.poll(() => load.blocks.length).toBeGreaterThan(before + 100);
    expect(notBeside(await load.stop(), 'overlap')).toEqual([]);
    for (const error of load.errors) expect(error).toBeInstanceOf(StoreError);
  });
});
