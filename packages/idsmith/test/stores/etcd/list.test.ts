import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type Etcd, startEtcd } from '#services';
import { etcdStore } from '../../../src/stores/etcd/store.ts';

await describeWith(['etcd'], 'A list of sequences in etcd', () => {
  let etcd: Etcd;
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd?.stop());
  const open = () => etcdStore({ endpoints: etcd.endpoints });

  it('counts the blocks that were taken, of each sequence its own', async () => {
    const store = open();
    // Names that begin alike, or look like parts of a key.
    const names = ['a', 'a b', 'a/b', 'a/tickets', 'ä', 'z'];
    for (const name of names) await store.defineSequence({ name, blockSize: 10 });
    for (const [i, name] of names.entries()) if (i > 0) await store.allocate(name, 2 ** i + 1);
    const list = await open().listSequences();
    expect(list.map(({ name, next }) => [name, next])).toEqual([
      ['a', 1n],
      ['a b', 31n],
      ['a/b', 51n],
      ['a/tickets', 91n],
      ['z', 331n],
      ['ä', 171n],
    ]);
  });

  it('goes on from the blocks that were taken before a sequence was altered', async () => {
    const store = etcdStore({ endpoints: etcd.endpoints, prefix: 'altered/' });
    await store.defineSequence({ name: 'x', blockSize: 10, max: 110 });
    await store.allocate('x', 3);
    await store.alterSequence('x', { blockSize: 20 });
    await store.allocate('x', 3);
    expect(await store.listSequences()).toEqual([await store.describeSequence('x')]);
    expect(await store.listSequences()).toMatchObject([{ next: 91n, blockSize: 20, exhausted: false }]);
    await store.allocate('x', 1);
    expect(await store.listSequences()).toMatchObject([{ exhausted: true }]);
  });
});
