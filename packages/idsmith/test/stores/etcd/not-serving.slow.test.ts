import { expect, it } from 'vitest';
import { describeWith, startEtcd } from '#services';
import { openStore } from '../../../src/stores/open.ts';

await describeWith(['etcd'], 'An etcd that does not serve', () => {
  const urlOf = (endpoint: string) => endpoint.replace('http', 'etcd');

  it('because it has reached its quota says what to do', async () => {
    const etcd = await startEtcd({ args: ['--quota-backend-bytes=20000'] });
    const store = await openStore(urlOf(etcd.endpoints[0]!));
    await expect(store.defineSequence({ name: 'orders' })).rejects.toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/--quota-backend-bytes.*etcdctl alarm disarm/),
        reason: 'NO_SPACE',
      }),
    );
    await store.close();
    await etcd.stop();
  });

  it('because most members are down is told of, and not only that nothing came', async () => {
    const etcd = await startEtcd({ nodes: 3 });
    const store = await openStore(`${urlOf(etcd.endpoints[0]!)}?timeout=2000`);
    await Promise.all(etcd.nodes.slice(1).map((node) => node.kill()));
    await expect(store.listSequences()).rejects.toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/no answer within 2000 ms.* does not reach most of the others/),
        reason: 'TIMEOUT',
      }),
    );
    await store.close();
    await etcd.stop();
  });
});
